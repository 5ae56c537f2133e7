// SPDX-License-Identifier: Apache-2.0
// Reports a rewrite rule whose recorded numeric effect is wrong.
#include "core/job/rule_effects.h"

#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::job {
namespace {

using passes::Effect;

ir::Graph Parse(const std::string& text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

ir::Graph Rescaled(const std::string& scale) {
  return Parse(
      "graph(%x: tensor<1x8xf32>) -> (%y) {\n"
      "  %x.q = Quantize(%x) : tensor<1x8xi8, scale=0.015625, zp=0>\n"
      "  %x.r = Rescale(%x.q) : tensor<1x8xi8, scale=" +
      scale +
      ", zp=0>\n"
      "  %y = Dequantize(%x.r) : tensor<1x8xf32>\n}\n");
}

ir::Graph Real(const std::string& output) {
  return Parse("graph(%x: tensor<1x8xf32>) -> (%" + output + ") {\n  %" + output +
               " = Identity(%x) : tensor<1x8xf32>\n}\n");
}

struct Effects {
  ThreadPool pool{1};
  StopToken stop = {};
  ir::Batches batches = {};
  std::optional<RuleEffects> effects = {};

  Effects() {
    std::vector<float> values = {-1.2f, -0.4f, -0.03f, 0, 0.05f, 0.37f, 0.9f, 1.2f};
    batches = {RuleEffects::Batch{ir::Tensor::Of<float>({1, 8}, values)}};
    effects.emplace(batches, pool, stop);
    EXPECT_TRUE(effects->Begin(Real("y"), Rescaled("0.03125"), &numerics::kOnnx));
  }

  // The only output of the first run.
  const v1::OutputChange& output() const { return effects->rows().at(0).outputs(0); }
};

// A run of one application with this recorded effect, whatever the graph.
RuleRun Claim(Effect effect) {
  return {.entries = {{.pass = "place-rescales",
                       .rule = "place-rescales/sink",
                       .effect = effect,
                       .node = "n7"}}};
}

TEST(RuleEffects, AnExactApplicationThatChangesABitIsAViolation) {
  Effects of;
  ASSERT_TRUE(of.effects->Add(Claim(Effect::kExact), Rescaled("0.0625"), Granularity::kRule));
  EXPECT_EQ(of.effects->violation(),
            "place-rescales/sink (1 applications, the first at 'n7') is recorded as exact, but 3 "
            "of 8 elements of output 'y' changed");
  EXPECT_TRUE(of.output().violates_exact());
  EXPECT_EQ(of.output().changed(), 3);
}

TEST(RuleEffects, TheSameChangeByAnInexactApplicationIsNoViolation) {
  Effects of;
  ASSERT_TRUE(
      of.effects->Add(Claim(Effect::kFewerRoundings), Rescaled("0.0625"), Granularity::kRule));
  EXPECT_EQ(of.effects->violation(), "");
  EXPECT_FALSE(of.output().violates_exact());
}

TEST(RuleEffects, AnExactApplicationThatChangesNothingIsNoViolation) {
  Effects of;
  ASSERT_TRUE(of.effects->Add(Claim(Effect::kExact), Rescaled("0.03125"), Granularity::kRule));
  EXPECT_EQ(of.effects->violation(), "");
  EXPECT_EQ(of.output().changed(), 0);
}

TEST(RuleEffects, OutputsThatDifferFromTheBaselinesAreRefused) {
  Effects of;
  const Status status = of.effects->Begin(Real("other"), Rescaled("0.03125"), &numerics::kOnnx);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the outputs are y, but the baseline's are other");
}

}  // namespace
}  // namespace octavo::job

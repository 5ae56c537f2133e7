// SPDX-License-Identifier: Apache-2.0
// An op that only a target file describes: the file's rules alone move Rescales through it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/run_graph.h"

namespace octavo::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Like Glow's CPUMaxSplat without its threshold: the maximum of each element and 0.
std::string NpuWith(const std::string& input, const std::string& output) {
  return fmt::format(R"({{"name": "npu", "base": "cpu-int8", "ops": [{{"name": "MaxSplat",
      "domain": "npu", "quant": "same-as-input", "attributes": {{"splat": "float"}},
      "rescale": {{"inputs": ["{}"], "output": "{}"}}}}]}})",
                     input, output);
}

Status TakeMaximum(const ir::EvalContext& context) {
  const float splat = context.node.attributes.Float("splat", 0);
  std::ranges::transform(context.in(0).values<float>(),
                         context.out().mutable_values<float>().begin(),
                         [&](float x) { return std::max(x, splat); });
  return {};
}

constexpr std::string_view kNet = R"(graph(%x: tensor<1x1x4x4xu8, scale=0.5, zp=10>) -> (%z) {
  %r = Rescale(%x) : tensor<1x1x4x4xu8, scale=0.6, zp=10>
  %m = npu.MaxSplat(%r) {splat=0.0} : tensor<1x1x4x4xu8, scale=0.6, zp=10>
  %z = Add(%m, %x) : tensor<1x1x4x4xu8, scale=1, zp=10>
}
)";

struct Job {
  ThreadPool pool{1};
  Settings settings = {.pool = &pool};
  Findings findings = {};
  ir::OpDef def = {.since =
                       ir::kNotInOnnx};  // as in the file, plus a definition, to let tests run it
  ir::Graph before, after;

  explicit Job(const std::string& file) {
    auto target = target::Parse(file);
    EXPECT_TRUE(target) << target.error().message;
    if (!target) return;
    settings.target = *target;
    def = *settings.target.ops.at(0).def;
    def.definition = &TakeMaximum;
    auto graph = text::Parse(
        kNet, {.find_op = [&](std::string_view name, std::string_view domain) -> const ir::OpDef* {
          if (name == def.name && domain == def.domain) return &def;
          return ops::FindOp(name, domain);
        }});
    EXPECT_TRUE(graph) << graph.error().message;
    if (!graph) return;
    before = *std::move(graph);
    after = before;
    const auto records = RunPipeline(AllPasses(), {.only = {"absorb-rescales", "place-rescales"}},
                                     settings, after, findings);
    EXPECT_TRUE(records) << records.error().message;
  }
};

TEST(TargetOps, RescalesSinkThroughAnOpThatSaysSo) {
  const Job job(NpuWith("sunk", "raised"));
  const std::string text = text::Print(job.after);
  EXPECT_THAT(text, HasSubstr("MaxSplat(%x)"));
  EXPECT_THAT(text, Not(HasSubstr("Rescale")));  // the Add absorbs it
  ir::Tensor x(ir::DType::kU8, {1, 1, 4, 4});
  for (int i = 0; i < 16; ++i) x.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(i * 17);
  const auto was = test::RunGraph(job.before, {x});
  const auto is = test::RunGraph(job.after, {x});
  ASSERT_TRUE(was) << was.error().message;
  ASSERT_TRUE(is) << is.error().message;
  for (int i = 0; i < 16; ++i) {
    EXPECT_NEAR(was->at("z").tensor.FloatAt(i), is->at("z").tensor.FloatAt(i), 1) << i;
  }
}

TEST(TargetOps, RescalesStayAtAnOpThatKeepsThem) {
  const Job job(NpuWith("kept", "kept"));
  const std::string text = text::Print(job.after);
  EXPECT_THAT(text, HasSubstr("MaxSplat(%r)"));
  EXPECT_THAT(text, Not(HasSubstr("MaxSplat(%x)")));
}

TEST(TargetOps, AreQuantizedByTheRuleOfTheFile) {
  Job job(NpuWith("sunk", "raised"));
  auto graph = text::Parse(R"(graph(%x: tensor<1x1x4x4xf32>) -> (%m) {
  const %w = random(1) : tensor<1x1x1x1xf32>
  %c = Conv(%x, %w) : tensor<1x1x4x4xf32>
  %m = npu.MaxSplat(%c) {splat=0.5} : tensor<1x1x4x4xf32>
}
)",
                           {.find_op = [&](std::string_view name, std::string_view domain) {
                             return name == job.def.name && domain == job.def.domain
                                        ? &job.def
                                        : ops::FindOp(name, domain);
                           }});
  ASSERT_TRUE(graph) << graph.error().message;
  profile::Profile profile;
  profile.values = {
      {"x", {.min = -1, .max = 1}}, {"c", {.min = -2, .max = 2}}, {"m", {.min = 0.5, .max = 2}}};
  job.settings.profile = &profile;
  ASSERT_TRUE(RunPipeline(AllPasses(), {}, job.settings, *graph, job.findings));
  const ir::Node* splat = graph->Producer(graph->Find("m.q"));
  ASSERT_NE(splat, nullptr) << text::Print(*graph);
  EXPECT_EQ(splat->op->name, "MaxSplat");
  EXPECT_EQ(graph->type(splat->inputs[0]).quant, graph->type(splat->result()).quant);
}

}  // namespace
}  // namespace octavo::passes

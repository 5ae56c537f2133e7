// SPDX-License-Identifier: Apache-2.0
// Conditions on quantized values hold in the job's numerics mode.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/passes/analysis/identity.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/passes.h"
#include "core/runtime/plan.h"
#include "core/target/target.h"
#include "core/text/parse.h"

namespace octavo::passes {
namespace {

using ir::DType;
using ir::Quant;
using numerics::Mode;

ir::Graph Parse(const std::string& text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message << text;
  return *std::move(graph);
}

ir::IntegerRange Occurring(const Mode& mode, float scale, int32_t zero_point, ir::Range range) {
  return PossibleValues({DType::kI8, {4}, Quant::PerTensor(scale, zero_point), range}, 0, mode);
}

// With scale 0.5, 0.25 and 0.75 are 0.5 and 1.5 steps from the zero point.
TEST(PossibleValues, EndsOnATieAreTheModesToRound) {
  const ir::Range range{0.25f, 0.75f};
  EXPECT_EQ(Occurring(numerics::kOnnx, 0.5f, 1, range).min, 1);             // rne(0.5) + 1
  EXPECT_EQ(Occurring(numerics::kOnnx, 0.5f, 1, range).max, 3);             // rne(1.5) + 1
  EXPECT_EQ(Occurring(numerics::kGlowInterpreter, 0.5f, 1, range).min, 2);  // rne(0.5 + 1)
  EXPECT_EQ(Occurring(numerics::kGlowInterpreter, 0.5f, 1, range).max, 2);  // rne(1.5 + 1)
  EXPECT_EQ(Occurring(numerics::kTfliteSingle, 0.5f, 1, range).min, 2);     // away from 0
  EXPECT_EQ(Occurring(numerics::kPow2, 0.5f, 1, range).min, 2);             // up
}

TEST(PossibleValues, AreOneMoreWhereAModeRoundsFurther) {
  const ir::Range range{0, 4};
  EXPECT_EQ(Occurring(numerics::kTfliteSingle, 0.5f, 1, range).max, 9);
  for (const Mode* mode : {&numerics::kTflite, &numerics::kGlowCpu}) {
    EXPECT_EQ(Occurring(*mode, 0.5f, 1, range).min, 0);
    EXPECT_EQ(Occurring(*mode, 0.5f, 1, range).max, 10);
  }
  EXPECT_EQ(Occurring(numerics::kTflite, 0.5f, -128, range).min, -128);  // no smaller value exists
}

// The results of the graph for all values of %x, in the mode.
std::vector<int64_t> ResultsOf(const ir::Graph& graph, const Mode& mode) {
  ThreadPool pool(1);
  const auto plan = runtime::Plan::Create(graph, {.numerics = &mode}, pool);
  if (!plan) return {};
  ir::Tensor values(DType::kI8, {256});
  for (int i = 0; i < 256; ++i) values.mutable_values<int8_t>()[i] = static_cast<int8_t>(i - 128);
  std::vector<ir::Tensor> inputs;
  inputs.push_back(std::move(values));
  const auto outputs = plan->Run(inputs, pool, {});
  std::vector<int64_t> out;
  for (int64_t i = 0; outputs && i < 256; ++i) out.push_back((*outputs)[0].IntAt(i));
  return out;
}

// Max and Min with a constant of another type.  If a pass treats one as an identity, it must keep
// every value.
TEST(Noop, OfAnExtremeIsDecidedInTheModesOwnArithmetic) {
  std::mt19937 random(3);
  for (const Mode* mode : numerics::AllModes()) {
    int claimed = 0, compared = 0;
    for (int i = 0; i < 400; ++i) {
      const bool max = i % 2 == 0;
      const float scale = mode == &numerics::kPow2 ? 0.5f : 0.3f;
      const float other = mode == &numerics::kPow2
                              ? std::ldexp(1.0f, static_cast<int>(random() % 5) - 3)
                          : mode == &numerics::kTflite || mode == &numerics::kTfliteSingle
                              ? scale
                              : 0.05f + static_cast<float>(random() % 1000) / 1000;
      const int zero = static_cast<int>(random() % 256) - 128;
      const bool same = mode == &numerics::kTflite || mode == &numerics::kTfliteSingle;
      const int code = static_cast<int>(random() % 8);
      const ir::Graph graph = Parse(
          fmt::format("graph(%x: tensor<256xi8, scale={0}, zp={1}>) -> (%y) {{\n"
                      "  const %c = splat({2}) : tensor<256xi8, scale={3}, zp={4}>\n"
                      "  %y = {5}(%x, %c) : tensor<256xi8, scale={0}, zp={1}>\n}}\n",
                      scale, zero, max ? -128 + code : 127 - code, other,
                      same ? zero : static_cast<int>(random() % 256) - 128, max ? "Max" : "Min"));
      const bool noop = IdentityOperand(graph, *graph.Producer(graph.outputs()[0]), *mode).valid();
      const std::vector<int64_t> out = ResultsOf(graph, *mode);
      if (out.empty()) continue;
      ++compared;
      claimed += noop ? 1 : 0;
      bool unchanged = true;
      for (int64_t k = 0; k < 256; ++k) unchanged &= out[k] == k - 128;
      if (noop) {
        EXPECT_TRUE(unchanged) << mode->name << " " << i;
      }
    }
    EXPECT_GT(compared, 300) << mode->name;
    EXPECT_GT(claimed, 20) << mode->name;
    EXPECT_LT(claimed, compared) << mode->name;
  }
}

// glow-cpu's multiplier may round the constant to another quantized value of the operand's type
// than the constant's real value does, so no answer fits both.
TEST(Noop, ModesDisagreeOnAnExtremeOfAnotherType) {
  std::mt19937 random(9);
  int differ = 0;
  for (int i = 0; i < 2000; ++i) {
    const float other = 0.05f + static_cast<float>(random() % 10000) / 10000;
    const int zero = static_cast<int>(random() % 256) - 128;
    const int code = -128 + static_cast<int>(random() % 64);
    const ir::Graph graph =
        Parse(fmt::format("graph(%x: tensor<4xi8, scale=0.3, zp=0>) -> (%y) {{\n"
                          "  const %c = splat({}) : tensor<4xi8, scale={}, zp={}>\n"
                          "  %y = Max(%x, %c) : tensor<4xi8, scale=0.3, zp=0>\n}}\n",
                          code, other, zero));
    const ir::Node& node = *graph.Producer(graph.outputs()[0]);
    differ += IdentityOperand(graph, node, numerics::kOnnx).valid() !=
                      IdentityOperand(graph, node, numerics::kGlowCpu).valid()
                  ? 1
                  : 0;
  }
  EXPECT_GT(differ, 0);
}

// The mean of the single element -0 is 0 + -0 = 0.
TEST(Noop, AFloatMeanOfOneElementIsNotExact) {
  const std::string text = R"(graph(%x: tensor<1x1x2x2xf32>) -> (%y) {
  %p = AveragePool(%x) {kernel_shape=[1, 1]} : tensor<1x1x2x2xf32>
  %y = Relu(%p) : tensor<1x1x2x2xf32>
}
)";
  for (const Effect limit : {Effect::kExact, Effect::kFewerRoundings}) {
    ir::Graph graph = Parse(text);
    ThreadPool pool(1);
    Settings settings{.limit = limit, .pool = &pool};
    settings.target = *target::BuiltIn("cpu-int8");
    Findings findings;
    const Pass* const passes[] = {&kRemoveNoopsPass};
    ASSERT_TRUE(RunPipeline(passes, {}, settings, graph, findings));
    if (limit == Effect::kExact) {
      EXPECT_TRUE(findings.ledger.empty());
      continue;
    }
    ASSERT_EQ(findings.ledger.size(), 1u);
    EXPECT_EQ(findings.ledger[0].effect, Effect::kRealExact);
  }
}

}  // namespace
}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// The scales of output channels, for every op with a bias: groups, bias forms, one weight scale or
// one per channel, in every numerics mode.
#include "core/ir/output_channels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/ir/verify.h"
#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/runtime/plan.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_graph.h"

namespace octavo::passes {
namespace {

// How the bias comes.
enum class Bias { kNone, kFloat, kPending, kRounded };

struct Case {
  std::string op = {};
  int64_t group = 1;
  Bias bias = Bias::kNone;
  bool per_channel = false;

  std::string Name() const {
    return fmt::format("{} of {} groups, bias form {}, {}", op, group, static_cast<int>(bias),
                       per_channel ? "per channel" : "per tensor");
  }
};

constexpr int64_t kChannels = 8;

// Powers of two, so that every mode defines the op.  Neighbouring channels differ, and so do the
// groups' biases.
std::vector<float> WeightScales(const Case& one, int64_t count) {
  if (!one.per_channel) return {0.0625f};
  std::vector<float> scales;
  for (int64_t c = 0; c < count; ++c) scales.push_back(std::ldexp(0.5f, -static_cast<int>(c % 5)));
  return scales;
}

std::string ListOf(const std::vector<float>& scales, int64_t axis) {
  return scales.size() == 1 ? fmt::format("scale={}", scales[0])
                            : fmt::format("axis={}, scale=[{}]", axis, fmt::join(scales, ", "));
}

// y = Op(Rescale(x), Quantize(w), b).  A Rescale that folds gives the bias other scales; one scale
// for each output channel.
ir::Graph GraphOf(const Case& one) {
  const bool transposed = one.op == "ConvTranspose", matrix = one.op == "Gemm";
  const int64_t axis = transposed || matrix ? 1 : 0;
  const int64_t part = kChannels / one.group;
  const std::string weight = matrix ? fmt::format("{}x{}", kChannels, kChannels)
                                    : fmt::format("{}x{}x2x2", kChannels, part);
  const std::vector<float> scales = WeightScales(one, transposed ? part : kChannels);
  std::vector<float> bias_scales;
  for (int64_t c = 0; c < (one.per_channel ? kChannels : 1); ++c) {
    bias_scales.push_back(0.25f * scales[static_cast<size_t>(c) % scales.size()]);
  }
  const std::string bias_type =
      fmt::format("tensor<{}xi32, {}, zp=0>", kChannels, ListOf(bias_scales, 0));
  std::string bias;
  if (one.bias == Bias::kFloat)
    bias = "  const %b = [1, -2, 3, -4, 5, -6, 7, -8] : tensor<8xf32>\n";
  if (one.bias == Bias::kPending) {
    bias = "  const %f = [1, -2, 3, -4, 5, -6, 7, -8] : tensor<8xf32>\n  %b = Quantize(%f) : " +
           bias_type + "\n";
  }
  if (one.bias == Bias::kRounded) {
    bias = "  const %b = [9, -29, 39, -49, 59, -69, 79, -89] : " + bias_type + "\n";
  }
  const std::string x =
      matrix ? fmt::format("2x{}", kChannels) : fmt::format("1x{}x3x3", kChannels);
  const std::string y = matrix       ? x
                        : transposed ? fmt::format("1x{}x4x4", kChannels)
                                     : fmt::format("1x{}x2x2", kChannels);
  const std::string text = fmt::format(
      "graph(%x: tensor<{0}xi8, scale=0.125, zp=0>) -> (%y) {{\n"
      "  const %w.float = random(1) : tensor<{1}xf32>\n{2}"
      "  %r = Rescale(%x) : tensor<{0}xi8, scale=0.25, zp=0>\n"
      "  %w = Quantize(%w.float) : tensor<{1}xi8, {3}, zp=0>\n"
      "  %y = {4}(%r, %w{5}){6} : tensor<{7}xi8, scale=0.5, zp=0>\n}}\n",
      x, weight, bias, ListOf(scales, axis), one.op, bias.empty() ? "" : ", %b",
      matrix ? "" : fmt::format(" {{group={}}}", one.group), y);
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  if (!graph) ADD_FAILURE() << graph.error().message << "\n" << text;
  return graph ? *std::move(graph) : ir::Graph();
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const std::string op : {"Conv", "ConvTranspose", "Gemm"}) {
    for (const int64_t group : {1, 2, 4}) {
      if (op == "Gemm" && group > 1) continue;
      for (const Bias bias : {Bias::kNone, Bias::kFloat, Bias::kPending, Bias::kRounded}) {
        for (const bool per_channel : {false, true})
          cases.push_back({op, group, bias, per_channel});
      }
    }
  }
  return cases;
}

class OutputChannels : public testing::TestWithParam<const numerics::Mode*> {};

// The largest distance between what the mode computes and the op's definition, in steps of y.
double StepsApart(const ir::Graph& graph, const numerics::Mode& mode) {
  ThreadPool pool(1);
  const std::vector<ir::Tensor> inputs = test::RandomInputs(graph, 3);
  const auto plan = runtime::Plan::Create(graph, {.numerics = &mode}, pool);
  const auto real = test::RunGraph(graph, inputs);
  if (!plan || !real) return -1;
  const auto results = plan->Run(inputs, pool);
  if (!results) return -1;
  const ir::Tensor& is = (*results)[0];
  const ir::Tensor& wanted = real->at(graph.name(graph.outputs()[0])).tensor;
  double most = 0;
  for (int64_t i = 0; i < is.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(is.IntAt(i) - wanted.IntAt(i))));
  }
  return most;
}

TEST_P(OutputChannels, HaveTheirWeightsScalesThroughThePasses) {
  const numerics::Mode& mode = *GetParam();
  const Pass* const pipeline[] = {FindPass("absorb-rescales"), FindPass("specialize-bias"),
                                  FindPass("merge-constants")};
  for (const Case& one : AllCases()) {
    SCOPED_TRACE(one.Name());
    ir::Graph graph = GraphOf(one);
    ASSERT_TRUE(ir::Verify(graph)) << ir::Verify(graph).error().message;
    ThreadPool pool(1);
    Settings settings{.pool = &pool};
    settings.target = *target::BuiltIn("cpu-int8");
    settings.target.numerics = &mode;
    Findings findings;
    const auto ran = RunPipeline(pipeline, {}, settings, graph, findings);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(graph.node_count(), 1) << text::Print(graph);
    const ir::ProductOperands operands = ir::ProductOperandsOf(graph.node(graph.first()));
    if (one.bias != Bias::kNone) {
      const ir::Quant& bias = *graph.type(operands.bias).quant;
      const ir::Quant& weight = *graph.type(operands.weight).quant;
      for (int64_t c = 0; c < kChannels; ++c) {
        const float scale = weight.scales[static_cast<size_t>(c) % weight.scales.size()];
        EXPECT_EQ(bias.scale(c), 0.125f * scale) << c;
      }
    }
    const double apart = StepsApart(graph, mode);
    // Glow has no integer ConvTranspose.
    const bool defined = one.op != "ConvTranspose" || !mode.name.starts_with("glow");
    EXPECT_EQ(apart >= 0, defined);
    EXPECT_LE(apart, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, OutputChannels,
                         testing::ValuesIn(numerics::AllModes().begin(),
                                           numerics::AllModes().end()),
                         [](const auto& info) {
                           std::string name(info.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Weights whose bias overflows get larger scales; a channel's scale serves every group.
TEST(OutputChannelsOfGroups, ShareTheScaleThatABiasIncreases) {
  auto graph = text::Parse(
      "graph(%x: tensor<1x2x2x2xi8, scale=0.5, zp=0>) -> (%y) {\n"
      "  const %w.float = [1, 2] : tensor<2x1x1x1xf32>\n"
      "  const %b = [1, 40000000] : tensor<2xf32>\n"
      "  %w = Quantize(%w.float) : tensor<2x1x1x1xi8, axis=1, scale=[0.01], zp=0>\n"
      "  %y = ConvTranspose(%x, %w, %b) {group=2} : tensor<1x2x2x2xi8, scale=0.5, zp=0>\n}\n",
      {.find_op = &ops::FindOp});
  ASSERT_TRUE(graph) << graph.error().message;
  ThreadPool pool(1);
  Settings settings{.pool = &pool};
  settings.target = *target::BuiltIn("cpu-int8");
  Findings findings;
  const Pass* const pipeline[] = {FindPass("specialize-bias")};
  const auto ran = RunPipeline(pipeline, {}, settings, *graph, findings);
  ASSERT_TRUE(ran) << ran.error().message;
  const ir::Quant& weight = *graph->type(graph->Find("w")).quant;
  EXPECT_GT(weight.scales[0], 0.07f);
  const ir::Quant& bias = *graph->type(graph->Find("b")).quant;
  EXPECT_EQ(bias, ir::Quant::PerTensor(0.5f * weight.scales[0], 0));
}

}  // namespace
}  // namespace octavo::passes

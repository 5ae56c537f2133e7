// SPDX-License-Identifier: Apache-2.0
#include "core/profile/layer.h"

#include <gtest/gtest.h>

#include <map>

#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_graph.h"

namespace octavo::profile {
namespace {

ir::Graph Parse(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return graph.value_or(ir::Graph());
}

// Where the result of a layer has output channel `output` at a position of its group.
int64_t ResultIndex(const ir::Graph& graph, const Layer& layer, int64_t output, int64_t position) {
  const ir::Shape& shape = graph.type(graph.node(layer.node).result()).shape;
  if (!graph.node(layer.node).op->name.starts_with("Conv")) {
    return position * layer.outputs() + output;
  }
  const int64_t plane = ir::NumElements(shape) / shape[0] / shape[1];
  return (position / plane * shape[1] + output) * plane + position % plane;
}

// Every element of the result is its column times its channel's weights.
void ExpectColumnsTimesWeights(std::string_view text) {
  SCOPED_TRACE(text);
  const ir::Graph graph = Parse(text);
  const auto layer = LayerOf(graph, graph.first());
  ASSERT_TRUE(layer.has_value());
  const std::vector<ir::Tensor> inputs = test::RandomInputs(graph, 7);
  const auto values = test::RunGraph(graph, inputs);
  ASSERT_TRUE(values.has_value());
  const std::span<const float> y = values->at("y").tensor.values<float>();
  const std::span<const float> w = graph.value(layer->weight).constant->tensor.values<float>();
  ASSERT_EQ(static_cast<int64_t>(y.size()), layer->positions * layer->outputs());
  std::vector<int64_t> positions;
  for (int64_t p = 0; p < layer->positions; ++p) positions.push_back(p);
  std::vector<float> columns(static_cast<size_t>(layer->groups * layer->positions * layer->terms));
  GatherColumns(graph, *layer, inputs[0], positions, columns.data());
  for (int64_t output = 0; output < layer->outputs(); ++output) {
    const WeightOrder order = OrderOf(graph, *layer, output);
    const int64_t group = output / layer->channels;
    for (int64_t p = 0; p < layer->positions; ++p) {
      double sum = 0;
      for (int64_t k = 0; k < layer->terms; ++k) {
        const int64_t at = (group * layer->positions + p) * layer->terms + k;
        sum += double{columns[static_cast<size_t>(at)]} *
               double{w[static_cast<size_t>(order.At(*layer, k))]};
      }
      ASSERT_NEAR(y[static_cast<size_t>(ResultIndex(graph, *layer, output, p))], sum, 1e-5)
          << "channel " << output << ", position " << p;
    }
  }
}

TEST(Layer, ResultsAreColumnsTimesWeights) {
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<2x4x5x6xf32>) -> (%y) {
  const %w = random(1) : tensor<6x2x3x2xf32>
  %y = Conv(%x, %w) {group=2, pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]} : tensor<2x6x3x5xf32>
})");
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<1x3x7xf32>) -> (%y) {
  const %w = random(2) : tensor<3x1x3xf32>
  %y = Conv(%x, %w) {group=3, auto_pad="SAME_UPPER"} : tensor<1x3x7xf32>
})");
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<2x4x3x3xf32>) -> (%y) {
  const %w = random(3) : tensor<4x3x2x3xf32>
  %y = ConvTranspose(%x, %w) {group=2, strides=[2, 1], pads=[0, 1, 1, 0]} : tensor<2x6x5x4xf32>
})");
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<3x5xf32>) -> (%y) {
  const %w = random(4) : tensor<5x4xf32>
  %y = Gemm(%x, %w) : tensor<3x4xf32>
})");
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<5x3xf32>) -> (%y) {
  const %w = random(5) : tensor<4x5xf32>
  %y = Gemm(%x, %w) {transA=1, transB=1} : tensor<3x4xf32>
})");
  ExpectColumnsTimesWeights(R"(graph(%x: tensor<2x3x5xf32>) -> (%y) {
  const %w = random(6) : tensor<5x4xf32>
  %y = MatMul(%x, %w) : tensor<2x3x4xf32>
})");
}

TEST(Layer, OtherNodesAreNone) {
  for (const std::string_view text : {
           R"(graph(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> (%y) {
  %y = MatMul(%x, %w) : tensor<2x4xf32>
})",
           R"(graph(%x: tensor<3x4xf32>) -> (%y) {
  const %w = random(1) : tensor<2x3xf32>
  %y = MatMul(%w, %x) : tensor<2x4xf32>
})",
           R"(graph(%x: tensor<2x2x3xf32>) -> (%y) {
  const %w = random(1) : tensor<2x3x4xf32>
  %y = MatMul(%x, %w) : tensor<2x2x4xf32>
})",
           R"(graph(%x: tensor<2x3xf32>) -> (%y) {
  const %w = random(1) : tensor<2x3xf32>
  %y = Add(%x, %w) : tensor<2x3xf32>
})"}) {
    const ir::Graph graph = Parse(text);
    EXPECT_FALSE(LayerOf(graph, graph.first()).has_value()) << text;
  }
}

// Ops with weights that have no columns, and why.
const std::map<std::string_view, std::string_view> kNoForm = {
    {"GRU", "each step multiplies what the step before has computed"},
    {"LSTM", "each step multiplies what the step before has computed"},
    {"RNN", "each step multiplies what the step before has computed"},
};

TEST(Layer, EveryOpWithWeightsHasAFormOrAReason) {
  std::vector<std::string> missing;
  for (const ir::OpDef* op : ops::AllOps()) {
    const bool form = op->name == "Conv" || op->name == "ConvTranspose" || op->name == "Gemm" ||
                      op->name == "MatMul";
    if (op->weight_axis == nullptr || form || kNoForm.contains(op->name)) continue;
    missing.emplace_back(op->name);
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(missing, " ")), "");
}

}  // namespace
}  // namespace octavo::profile

// SPDX-License-Identifier: Apache-2.0
#include "core/profile/layer.h"

#include <algorithm>

#include "core/ir/output_channels.h"
#include "core/ops/shared/transpose_window.h"
#include "core/ops/shared/window.h"

namespace octavo::profile {
namespace {

using ir::Graph;
using ir::Node;
using ir::Shape;

// Where the columns and the weights of an op are.  A row per op with weights that has such a form;
// tests/core/profile/layer_test.cc lists the others.
struct Form {
  std::string_view op = {};
  // Sets the sizes; false if the node has no columns.
  bool (*measure)(const Graph& graph, const Node& node, Layer& layer) = nullptr;
  void (*gather)(const Graph& graph, const Layer& layer, const ir::Tensor& data,
                 std::span<const int64_t> positions, float* columns) = nullptr;
  WeightOrder (*order)(const Graph& graph, const Layer& layer, int64_t output) = nullptr;
};

const Shape& WeightShape(const Graph& graph, const Layer& layer) {
  return graph.type(layer.weight).shape;
}

// ---------------------------------------------------------------- Conv

bool MeasureConv(const Graph& graph, const Node& node, Layer& layer) {
  const Shape& x = graph.type(layer.data).shape;
  const Shape& w = WeightShape(graph, layer);
  const auto window = ops::WindowOf(node, x, {w.begin() + 2, w.end()});
  if (!window) return false;
  layer.groups = node.attributes.Int("group", 1);
  layer.unit = window->taps();
  layer.terms = w[1] * layer.unit;
  layer.channels = w[0] / layer.groups;
  layer.positions = x[0] * window->positions();
  return true;
}

void GatherConv(const Graph& graph, const Layer& layer, const ir::Tensor& data,
                std::span<const int64_t> positions, float* columns) {
  const Shape& w = WeightShape(graph, layer);
  const auto window = ops::WindowOf(graph.node(layer.node), data.shape(), {w.begin() + 2, w.end()});
  const int64_t in = ir::NumElements(window->in), out = window->positions();
  const int64_t group_channels = w[1];
  const float* x = data.values<float>().data();
  const auto count = static_cast<int64_t>(positions.size());
  for (int64_t i = 0; i < count; ++i) {
    const float* image = x + positions[i] / out * (layer.groups * group_channels * in);
    const int64_t at = positions[i] % out;
    ops::ForEachTap(*window, at, at + 1, [&](int64_t, int64_t tap, int64_t offset) {
      for (int64_t c = 0; c < layer.groups * group_channels; ++c) {
        const int64_t group = c / group_channels, term = c % group_channels * layer.unit + tap;
        columns[(group * count + i) * layer.terms + term] =
            offset < 0 ? 0.0f : image[c * in + offset];
      }
    });
  }
}

WeightOrder OrderConv(const Graph&, const Layer& layer, int64_t output) {
  return {.first = output * layer.terms, .unit_stride = layer.unit};
}

// ---------------------------------------------------------------- ConvTranspose

bool MeasureConvTranspose(const Graph& graph, const Node& node, Layer& layer) {
  const Shape& x = graph.type(layer.data).shape;
  const Shape& w = WeightShape(graph, layer);
  const auto window = ops::TransposeWindowOf(node, x, w);
  if (!window) return false;
  layer.groups = node.attributes.Int("group", 1);
  layer.unit = ir::NumElements(window->kernel);
  layer.terms = w[0] / layer.groups * layer.unit;
  layer.channels = w[1];
  layer.positions = x[0] * ir::NumElements(window->out);
  return true;
}

void GatherConvTranspose(const Graph& graph, const Layer& layer, const ir::Tensor& data,
                         std::span<const int64_t> positions, float* columns) {
  const auto window =
      ops::TransposeWindowOf(graph.node(layer.node), data.shape(), WeightShape(graph, layer));
  const int64_t in = ir::NumElements(window->in), out = ir::NumElements(window->out);
  const int64_t channels = data.shape()[1], group_channels = channels / layer.groups;
  const float* x = data.values<float>().data();
  const auto count = static_cast<int64_t>(positions.size());
  std::fill_n(columns, layer.groups * count * layer.terms, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const float* image = x + positions[i] / out * (channels * in);
    window->ForEachTapAt(positions[i] % out, [&](int64_t tap, int64_t offset) {
      if (offset < 0) return;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t group = c / group_channels, term = c % group_channels * layer.unit + tap;
        columns[(group * count + i) * layer.terms + term] = image[c * in + offset];
      }
    });
  }
}

WeightOrder OrderConvTranspose(const Graph&, const Layer& layer, int64_t output) {
  const int64_t group = output / layer.channels, channel = output % layer.channels;
  const int64_t rows = layer.terms / layer.unit;  // input channels of a group
  return {.first = (group * rows * layer.channels + channel) * layer.unit,
          .unit_stride = layer.channels * layer.unit};
}

// ---------------------------------------------------------------- Gemm, MatMul

bool MeasureGemm(const Graph& graph, const Node& node, Layer& layer) {
  const Shape& x = graph.type(layer.data).shape;
  const bool columns = node.attributes.Int("transA", 0) != 0;
  layer.terms = x[columns ? 0 : 1];
  layer.channels = graph.type(node.result()).shape[1];
  layer.positions = x[columns ? 1 : 0];
  return true;
}

bool MeasureMatMul(const Graph& graph, const Node& node, Layer& layer) {
  const Shape& w = WeightShape(graph, layer);
  if (layer.weight != node.input(1) || w.size() != 2 || w[0] == 0) return false;
  layer.terms = w[0];
  layer.channels = w[1];
  layer.positions = ir::NumElements(graph.type(layer.data).shape) / w[0];
  return true;
}

void GatherRows(const Graph& graph, const Layer& layer, const ir::Tensor& data,
                std::span<const int64_t> positions, float* columns) {
  const bool transposed = graph.node(layer.node).attributes.Int("transA", 0) != 0;
  const int64_t row = transposed ? 1 : layer.terms, step = transposed ? layer.positions : 1;
  const float* x = data.values<float>().data();
  for (const int64_t position : positions) {
    const float* element = x + position * row;
    for (int64_t k = 0; k < layer.terms; ++k) *columns++ = element[k * step];
  }
}

WeightOrder OrderMatrix(const Graph& graph, const Layer& layer, int64_t output) {
  const bool rows = graph.node(layer.node).attributes.Int("transB", 0) != 0;
  const int64_t stride = rows ? 1 : layer.channels;
  return {.first = rows ? output * layer.terms : output, .unit_stride = stride};
}

constexpr Form kForms[] = {
    {"Conv", &MeasureConv, &GatherConv, &OrderConv},
    {"ConvTranspose", &MeasureConvTranspose, &GatherConvTranspose, &OrderConvTranspose},
    {"Gemm", &MeasureGemm, &GatherRows, &OrderMatrix},
    {"MatMul", &MeasureMatMul, &GatherRows, &OrderMatrix},
};

const Form* FormOf(const Node& node) {
  if (!node.op->domain.empty()) return nullptr;
  const auto* form = std::ranges::find(kForms, node.op->name, &Form::op);
  return form == std::end(kForms) ? nullptr : form;
}

bool IsOwn(const Node* node, std::string_view op) {
  return node != nullptr && node->op->domain == "octavo" && node->op->name == op;
}

bool IsConstantWeight(const Graph& graph, ir::ValueId id) {
  if (graph.IsConstant(id)) return true;
  const Node* producer = graph.Producer(id);
  if (IsOwn(producer, "Dequantize")) producer = graph.Producer(producer->inputs[0]);
  return IsOwn(producer, "Quantize") && graph.IsConstant(producer->inputs[0]);
}

}  // namespace

std::optional<Layer> LayerOf(const Graph& graph, ir::NodeId id) {
  const Node& node = graph.node(id);
  const Form* form = FormOf(node);
  if (form == nullptr) return std::nullopt;
  const ir::ProductOperands operands = ir::ProductOperandsOf(node);
  if (!operands.data || !operands.weight || !IsConstantWeight(graph, operands.weight) ||
      graph.IsConstant(operands.data)) {
    return std::nullopt;
  }
  Layer layer{.node = id, .data = operands.data, .weight = operands.weight};
  if (!form->measure(graph, node, layer)) return std::nullopt;
  if (layer.terms == 0 || layer.outputs() == 0 || layer.positions == 0) return std::nullopt;
  return layer;
}

void GatherColumns(const Graph& graph, const Layer& layer, const ir::Tensor& data,
                   std::span<const int64_t> positions, float* columns) {
  FormOf(graph.node(layer.node))->gather(graph, layer, data, positions, columns);
}

WeightOrder OrderOf(const Graph& graph, const Layer& layer, int64_t output) {
  return FormOf(graph.node(layer.node))->order(graph, layer, output);
}

}  // namespace octavo::profile

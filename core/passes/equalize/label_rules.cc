// SPDX-License-Identifier: Apache-2.0
// How each op carries the factors of its operands' channels to its results.  A row per op, or per
// property of its OpDef; ops without a rule fix what they read and compute.
#include <algorithm>

#include "core/ir/output_channels.h"
#include "core/passes/analysis/data_movement.h"
#include "core/passes/equalize/class_builder.h"
#include "core/patterns/match.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Shape;
using ir::ValueId;

// A movement of more elements is not followed, so that time and memory are bounded.
constexpr int64_t kMostElements = int64_t{1} << 24;

struct Row {
  std::string_view op = {};
  // Labels the node's results; false if the node has no such form, which fixes it.
  bool (*label)(ClassBuilder& builder, NodeId id) = nullptr;
};

const Shape& ShapeOf(const ClassBuilder& builder, ValueId id) {
  return builder.graph().type(id).shape;
}

bool AllFixed(const Labels& labels) {
  return std::ranges::all_of(labels.ids, [](int32_t id) { return id == kFixed; });
}

// ---------------------------------------------------------------- layers

// One label per index of the axis, along which alone they may vary.
std::vector<int32_t> LabelsAlong(const Labels& labels, size_t axis, int64_t extent) {
  Shape shape(labels.shape.size(), 1);
  shape[axis] = extent;
  return Expand(labels, shape);
}

// The labels of an operand's channels; kFixed if the labels vary along another axis, too.
std::vector<int32_t> ChannelsOf(ClassBuilder& builder, ValueId data, size_t axis) {
  Labels labels = builder.Of(data);
  if (!labels.VariesOnlyAlong(axis)) {
    builder.Fix(data);
    labels = builder.Of(data);
  }
  return LabelsAlong(labels, axis, ShapeOf(builder, data)[axis]);
}

// The weights take up the factors of operand and result; a bias is divided like the result.
bool LabelLayer(ClassBuilder& builder, NodeId id, size_t data_axis, size_t result_axis) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const std::optional<profile::Layer> layer = profile::LayerOf(graph, id);
  if (!layer || !IsFloatConstant(graph, layer->weight)) return false;
  const ir::ProductOperands operands = ir::ProductOperandsOf(node);
  if (operands.bias && !IsFloatConstant(graph, operands.bias)) return false;
  const size_t rank = ShapeOf(builder, node.result()).size();
  const Labels result = builder.New(rank, result_axis, layer->outputs());
  const std::vector<int32_t> channels = LabelsAlong(result, result_axis, layer->outputs());
  builder.AddLayer({*layer, ChannelsOf(builder, layer->data, data_axis), channels});
  if (operands.bias) {
    // The bias of a Gemm broadcasts to the result; the others have one axis, that of channels.
    const bool broadcasts = result_axis + 1 == rank;
    builder.Divide(id, operands.bias_input, broadcasts ? result : Labels::Along(1, 0, channels));
  }
  builder.Set(node.result(), result);
  return true;
}

bool LabelConv(ClassBuilder& builder, NodeId id) { return LabelLayer(builder, id, 1, 1); }

bool LabelGemm(ClassBuilder& builder, NodeId id) {
  return builder.graph().node(id).attributes.Int("transA", 0) == 0 && LabelLayer(builder, id, 1, 1);
}

bool LabelMatMul(ClassBuilder& builder, NodeId id) {
  const size_t rank = ShapeOf(builder, builder.graph().node(id).input(0)).size();
  return rank >= 2 && LabelLayer(builder, id, rank - 1, rank - 1);
}

// ---------------------------------------------------------------- op(x / s) = op(x) / s

bool LabelUnary(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  builder.Set(node.result(), builder.Of(node.input(0)));
  return true;
}

bool LabelPRelu(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  return IsFloatConstant(builder.graph(), node.input(1)) && LabelUnary(builder, id);
}

// The same after elements along all axes but 1 were combined.
bool LabelChannelwise(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  const Shape &from = ShapeOf(builder, node.input(0)), &to = ShapeOf(builder, node.result());
  if (from.size() < 2 || from.size() != to.size() || from[1] != to[1]) return false;
  Labels labels = builder.Of(node.input(0));
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (axis != 1) labels = builder.Collapsed(labels, axis);
  }
  builder.Set(node.result(), std::move(labels));
  return true;
}

bool LabelResize(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  if (node.attributes.String("coordinate_transformation_mode", "") == "tf_crop_and_resize" ||
      node.attributes.Has("axes")) {
    return false;
  }
  // Scales close to 1 may keep the extent and yet mix channels.
  if (node.input(2) && ShapeOf(builder, node.input(2)) != Shape{0}) {
    const ir::Tensor* scales = patterns::ConstantOf(graph, node.input(2));
    if (scales == nullptr || scales->size() < 2 || scales->FloatAt(1) != 1) return false;
  }
  return LabelChannelwise(builder, id);
}

bool LabelPad(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const Shape& shape = ShapeOf(builder, node.input(0));
  const auto pads = patterns::IntsOf(graph, node.input(1));
  if (!pads || pads->size() != 2 * shape.size() || node.input(3)) return false;
  const bool fills = node.attributes.String("mode", "constant") == "constant";
  if (fills && node.input(2) && patterns::ScalarOf(graph, node.input(2)) != 0.0f) return false;
  Labels labels = builder.Of(node.input(0));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool padded = (*pads)[axis] != 0 || (*pads)[axis + shape.size()] != 0;
    if (padded) labels = builder.Collapsed(labels, axis);
  }
  builder.Set(node.result(), std::move(labels));
  return true;
}

bool LabelReduce(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const size_t rank = ShapeOf(builder, node.input(0)).size();
  std::vector<int64_t> axes;
  if (node.input(1)) {
    const auto given = patterns::IntsOf(graph, node.input(1));
    if (!given) return false;
    axes = *given;
  }
  if (axes.empty()) {
    if (node.attributes.Int("noop_with_empty_axes", 0) != 0) return LabelUnary(builder, id);
    for (size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<int64_t>(axis));
  }
  Labels labels = builder.Of(node.input(0));
  std::vector<bool> reduced(rank);
  for (const int64_t each : axes) {
    const auto axis = static_cast<size_t>(patterns::FrontAxis(each, rank));
    reduced[axis] = true;
    labels = builder.Collapsed(labels, axis);
  }
  if (node.attributes.Int("keepdims", 1) == 0) {
    for (size_t axis = rank; axis-- > 0;) {
      if (reduced[axis]) labels.shape.erase(labels.shape.begin() + static_cast<int64_t>(axis));
    }
  }
  builder.Set(node.result(), std::move(labels));
  return true;
}

// ---------------------------------------------------------------- arithmetic

Labels Broadcast(const Labels& labels, const Shape& shape) {
  return Labels::Of(shape, Expand(labels, shape));
}

// Both operands and the result have the same factors; a constant operand is divided by them.
bool LabelSum(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const size_t rank = ShapeOf(builder, node.result()).size();
  for (const size_t constant : {0, 1}) {
    if (!graph.IsConstant(node.input(constant))) continue;
    if (graph.IsConstant(node.input(1 - constant))) return false;
    const Labels operand = builder.Of(node.input(1 - constant));
    const Labels labels = Broadcast(operand, BroadcastShape(Shape(rank, 1), operand.shape));
    builder.Divide(id, constant, labels);
    builder.Set(node.result(), labels);
    return true;
  }
  const Labels a = builder.Of(node.input(0)), b = builder.Of(node.input(1));
  const Shape shape = BroadcastShape(BroadcastShape(a.shape, b.shape), Shape(rank, 1));
  std::vector<int32_t> ids = Expand(a, shape);
  const std::vector<int32_t> others = Expand(b, shape);
  for (size_t i = 0; i < ids.size(); ++i) builder.Merge(ids[i], others[i]);
  for (int32_t& each : ids) each = builder.Find(each);
  builder.Set(node.result(), Labels::Of(shape, std::move(ids)));
  return true;
}

// The result has the factors of one operand; the other, a constant or a gate, has none.
bool LabelScaled(ClassBuilder& builder, const Node& node, size_t scaled) {
  const ValueId other = node.input(1 - scaled);
  if (other == node.input(scaled)) return false;
  if (!builder.graph().IsConstant(other)) builder.Fix(other);
  const size_t rank = ShapeOf(builder, node.result()).size();
  const Labels labels = builder.Of(node.input(scaled));
  builder.Set(node.result(), Broadcast(labels, BroadcastShape(Shape(rank, 1), labels.shape)));
  return true;
}

// Which factor of a product is the gate: the one with fewer elements, else one in a fixed range.
size_t GateOf(const Graph& graph, const Node& node) {
  for (const size_t constant : {0, 1}) {
    if (graph.IsConstant(node.input(constant))) return constant;
  }
  const int64_t first = graph.type(node.input(0)).elements();
  const int64_t second = graph.type(node.input(1)).elements();
  if (first != second) return first < second ? 0 : 1;
  const Node* producer = graph.Producer(node.input(0));
  const bool ranged = producer != nullptr &&
                      producer->op->QuantOf(graph, *producer).kind == ir::QuantRule::Kind::kFixed;
  return ranged ? 0 : 1;
}

bool LabelMul(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  return LabelScaled(builder, node, 1 - GateOf(builder.graph(), node));
}

bool LabelDiv(ClassBuilder& builder, NodeId id) {
  return LabelScaled(builder, builder.graph().node(id), 0);
}

// ---------------------------------------------------------------- normalizations

// The scale of a normalization, and what it adds, take up the factors of its result.
bool LabelNormalization(ClassBuilder& builder, NodeId id, size_t axis) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const Shape& shape = ShapeOf(builder, node.result());
  const Shape channels = {shape[axis]};
  for (const size_t input : {1, 2}) {
    const ValueId constant = node.input(input);
    if (!constant) break;
    if (!IsFloatConstant(graph, constant) || ShapeOf(builder, constant) != channels) return false;
  }
  builder.FixNode(node);
  const Labels labels = builder.New(shape.size(), axis, channels[0]);
  for (const size_t input : {1, 2}) {
    if (!node.input(input)) break;
    builder.Divide(id, input, Labels::Along(1, 0, LabelsAlong(labels, axis, channels[0])));
  }
  builder.Set(node.result(), labels);
  return true;
}

bool LabelLastAxisNorm(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  const size_t rank = ShapeOf(builder, node.input(0)).size();
  const int64_t axis = patterns::FrontAxis(node.attributes.Int("axis", -1), rank);
  return axis + 1 == static_cast<int64_t>(rank) && LabelNormalization(builder, id, rank - 1);
}

bool LabelChannelNorm(ClassBuilder& builder, NodeId id) {
  const Node& node = builder.graph().node(id);
  return ShapeOf(builder, node.input(0)).size() >= 2 && LabelNormalization(builder, id, 1);
}

// ---------------------------------------------------------------- data movement

bool ParametersAreConstant(const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && node.op->RoleOf(i) != ir::Role::kData &&
        !graph.IsConstant(node.inputs[i])) {
      return false;
    }
  }
  return true;
}

// Moves the labels as the op moves elements: by its definition, which takes elements of any type.
bool LabelMovement(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  if (node.op->definition == nullptr || !ParametersAreConstant(graph, node)) return false;
  const std::vector<size_t> data = DataInputs(node);
  bool fixed = true;
  int64_t elements = 0;
  for (const size_t input : data) {
    fixed = fixed && AllFixed(builder.Of(node.inputs[input]));
    elements += graph.type(node.inputs[input]).elements();
  }
  for (const ValueId result : node.results) elements += graph.type(result).elements();
  if (fixed || elements > kMostElements) return false;
  std::vector<ir::Tensor> operands(node.inputs.size()), results;
  std::vector<const ir::Tensor*> inputs(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input) continue;
    operands[i] = std::ranges::count(data, i) > 0
                      ? ir::Tensor::Of<int32_t>(ShapeOf(builder, input),
                                                Expand(builder.Of(input), ShapeOf(builder, input)))
                      : graph.value(input).constant->tensor;
    inputs[i] = &operands[i];
  }
  for (const ValueId result : node.results) {
    results.emplace_back(ir::DType::kI32, ShapeOf(builder, result));
  }
  ThreadPool pool(1);
  const ir::EvalContext context{.node = node, .inputs = inputs, .results = results, .pool = &pool};
  if (!node.op->definition(context)) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto ids = results[i].values<int32_t>();
    builder.Set(node.results[i],
                Labels::Of(results[i].shape(), std::vector<int32_t>(ids.begin(), ids.end())));
  }
  return true;
}

constexpr Row kRows[] = {
    {"Conv", &LabelConv},
    {"ConvTranspose", &LabelConv},
    {"Gemm", &LabelGemm},
    {"MatMul", &LabelMatMul},
    {"Relu", &LabelUnary},
    {"LeakyRelu", &LabelUnary},
    {"PRelu", &LabelPRelu},
    {"MaxPool", &LabelChannelwise},
    {"AveragePool", &LabelChannelwise},
    {"GlobalAveragePool", &LabelChannelwise},
    {"GlobalMaxPool", &LabelChannelwise},
    {"Resize", &LabelResize},
    {"Pad", &LabelPad},
    {"ReduceMean", &LabelReduce},
    {"ReduceSum", &LabelReduce},
    {"ReduceMax", &LabelReduce},
    {"ReduceMin", &LabelReduce},
    {"Add", &LabelSum},
    {"Sub", &LabelSum},
    {"Mul", &LabelMul},
    {"Div", &LabelDiv},
    {"LayerNormalization", &LabelLastAxisNorm},
    {"BatchNormalization", &LabelChannelNorm},
    {"InstanceNormalization", &LabelChannelNorm},
};

bool IsReal(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.results, [&](ValueId result) {
    return !result || graph.type(result).dtype == ir::DType::kF32;
  });
}

bool Label(ClassBuilder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(id);
  const bool own = node.op->domain.empty() && !node.results.empty() &&
                   graph.type(node.result()).dtype == ir::DType::kF32;
  const auto* row = std::ranges::find(kRows, node.op->name, &Row::op);
  if (own && row != std::end(kRows)) return row->label(builder, id);
  return own && IsReal(graph, node) && !node.op->depends_on_order && MovesAll(graph, node) &&
         LabelMovement(builder, id);
}

}  // namespace

void LabelNode(ClassBuilder& builder, NodeId id) {
  if (!Label(builder, id)) builder.FixNode(builder.graph().node(id));
}

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/look_up_step.h"

#include "core/ir/infer.h"
#include "core/ops/op_table.h"
#include "core/ops/shared/data_op.h"

namespace octavo::test {
namespace {

using ir::Shape;
using ir::ValueId;

constexpr int64_t kMaxIndices = 8;
constexpr int64_t kMaxElements = 256;

Step Of(std::string_view op, std::vector<ValueId> inputs, ir::AttrMap attributes = {}) {
  return {.op = ops::FindOp(op), .inputs = std::move(inputs), .attributes = std::move(attributes)};
}

// Appends a node; its last result, or none where the op does not fit.
std::optional<ValueId> Appended(Sketch& sketch, const Step& step) {
  const auto types =
      ir::InferNode(sketch.graph, *step.op, "step", step.inputs, step.attributes, step.results);
  if (!types) return std::nullopt;
  std::vector<std::pair<std::string, ir::Type>> results;
  for (size_t i = 0; i < types->size(); ++i) {
    const std::string_view name = i + 1 == types->size() ? "i" : "greatest";
    results.emplace_back(sketch.graph.UniqueName(name), (*types)[i]);
  }
  const ir::NodeId id = sketch.graph.AddNode({.op = step.op,
                                              .inputs = step.inputs,
                                              .attributes = step.attributes,
                                              .results = std::move(results)});
  return sketch.graph.node(id).results.back();
}

std::optional<ValueId> Real(Sketch& sketch, ValueId x) {
  if (!sketch.graph.type(x).quantized()) return x;
  return Appended(sketch, {.op = ops::FindOp("Dequantize", "octavo"), .inputs = {x}});
}

// Indices below `extent` that nodes compute: the place of the greatest or least element along an
// axis, or elements cast to integers.
std::optional<ValueId> DrawIndices(Sketch& sketch, int64_t extent) {
  const ValueId x = sketch.AnyValue();
  const Shape shape = sketch.ShapeOf(x);
  const int64_t elements = ir::NumElements(shape);
  if (elements <= kMaxIndices && sketch.dice.Chance(40)) {
    const auto real = Real(sketch, x);
    if (!real) return std::nullopt;
    const auto clipped = Appended(
        sketch,
        Of("Clip", {*real, sketch.Scalar(0), sketch.Scalar(static_cast<float>(extent - 1))}));
    return clipped ? Appended(sketch,
                              Of("Cast", {*clipped}, {{"to", ops::NumberOfDType(ir::DType::kI64)}}))
                   : std::nullopt;
  }
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > extent || elements / shape[axis] > kMaxIndices) continue;
    axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.empty()) return std::nullopt;
  const int64_t axis = sketch.dice.Pick(axes);
  if (sketch.dice.Chance(30)) {
    const auto real = Real(sketch, x);
    if (!real) return std::nullopt;
    Step step = Of("TopK", {*real, sketch.Ints({1})}, {{"axis", axis}});
    step.results = 2;
    return Appended(sketch, step);
  }
  return Appended(sketch, Of(sketch.dice.Chance(50) ? "ArgMax" : "ArgMin", {x},
                             {{"axis", axis}, {"keepdims", sketch.dice.Below(2)}}));
}

}  // namespace

std::optional<Step> DrawLookUp(Sketch& sketch, ValueId x) {
  int64_t axis = 0;
  if (sketch.dice.Chance(60)) {
    x = sketch.RealConstant({sketch.dice.Between(2, 8), sketch.dice.Between(1, 4)}, 2);
  } else if (!sketch.ShapeOf(x).empty()) {
    axis = sketch.dice.Below(static_cast<int64_t>(sketch.ShapeOf(x).size()));
  } else {
    return std::nullopt;
  }
  const auto indices = DrawIndices(sketch, sketch.ShapeOf(x)[static_cast<size_t>(axis)]);
  if (!indices) return std::nullopt;
  const ir::Type &from = sketch.graph.type(x), &at = sketch.graph.type(*indices);
  const int64_t extent = from.shape[static_cast<size_t>(axis)];
  if (from.elements() / extent * at.elements() > kMaxElements) return std::nullopt;
  return Of("Gather", {x, *indices}, {{"axis", axis}});
}

}  // namespace octavo::test

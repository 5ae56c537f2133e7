// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/random_steps.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/ir/infer.h"
#include "core/ops/op_table.h"

namespace octavo::test {
namespace {

using ir::AttrMap;
using ir::Shape;
using ir::ValueId;
using MaybeStep = std::optional<Step>;
using Ints = std::vector<int64_t>;

constexpr int64_t kMaxElements = 256;

Step Of(std::string_view op, std::vector<ValueId> inputs, AttrMap attributes = {}) {
  return {.op = ops::FindOp(op), .inputs = std::move(inputs), .attributes = std::move(attributes)};
}

MaybeStep DrawUnary(Sketch& sketch, ValueId x) {
  static const std::vector<std::string_view> kOps = {"Relu",      "Relu",    "Relu",  "Sigmoid",
                                                     "HardSwish", "Tanh",    "Abs",   "Neg",
                                                     "LeakyRelu", "Softmax", "Swish", "Identity"};
  return Of(sketch.dice.Pick(kOps), {x});
}

MaybeStep DrawClip(Sketch& sketch, ValueId x) {
  const double low = sketch.dice.Chance(30) ? 0 : sketch.dice.Real(-3, 0.5);
  std::vector<ValueId> inputs = {x, sketch.Scalar(static_cast<float>(low))};
  if (sketch.dice.Chance(70)) {
    inputs.push_back(sketch.Scalar(static_cast<float>(sketch.dice.Real(1, 6))));
  }
  return Of("Clip", std::move(inputs));
}

MaybeStep DrawBinary(Sketch& sketch, ValueId x) {
  static const std::vector<std::string_view> kOps = {"Add", "Add", "Add", "Sub",
                                                     "Mul", "Mul", "Max", "Min"};
  const Shape shape = sketch.ShapeOf(x);
  ValueId other = sketch.ValueOfShape(shape);
  if (sketch.dice.Chance(20)) {
    Shape small = shape;
    for (int64_t& extent : small) extent = sketch.dice.Chance(50) ? 1 : extent;
    other = sketch.RealConstant(small, 2);
  }
  if (sketch.dice.Chance(50)) std::swap(x, other);
  return Of(sketch.dice.Pick(kOps), {x, other});
}

// A divisor of the channels: 1, all of them, or one between.
int64_t DrawGroups(Sketch& sketch, int64_t channels) {
  if (sketch.dice.Chance(50)) return 1;
  if (sketch.dice.Chance(50)) return channels;
  return channels % 2 == 0 ? 2 : 1;
}

MaybeStep DrawConv(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.size() != 4) return std::nullopt;
  const int64_t kernel = sketch.dice.Chance(50) ? 1 : 3;
  const int64_t groups = DrawGroups(sketch, shape[1]);
  const int64_t channels = groups * sketch.dice.Between(1, groups > 2 ? 1 : 4 / groups);
  const int64_t pad =
      sketch.dice.Chance(70) || shape[2] < kernel || shape[3] < kernel ? (kernel - 1) / 2 : 0;
  if (shape[2] + 2 * pad < kernel || shape[3] + 2 * pad < kernel) return std::nullopt;
  AttrMap attributes = {{"pads", Ints{pad, pad, pad, pad}}};
  if (groups > 1) attributes.Set("group", groups);
  if (sketch.dice.Chance(20)) attributes.Set("strides", Ints{2, 2});
  std::vector<ValueId> inputs = {
      x, sketch.RealConstant({channels, shape[1] / groups, kernel, kernel}, 0.7)};
  if (sketch.dice.Chance(60)) inputs.push_back(sketch.RealConstant({channels}, 1));
  return Of("Conv", std::move(inputs), std::move(attributes));
}

MaybeStep DrawConvTranspose(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.size() != 4) return std::nullopt;
  const int64_t kernel = sketch.dice.Between(1, 2);
  const int64_t groups = DrawGroups(sketch, shape[1]);
  const int64_t part = sketch.dice.Between(1, 2);  // output channels of a group
  AttrMap attributes;
  if (groups > 1) attributes.Set("group", groups);
  if (sketch.dice.Chance(30)) attributes.Set("strides", Ints{2, 2});
  std::vector<ValueId> inputs = {x, sketch.RealConstant({shape[1], part, kernel, kernel}, 0.7)};
  if (sketch.dice.Chance(70)) inputs.push_back(sketch.RealConstant({groups * part}, 1));
  return Of("ConvTranspose", std::move(inputs), std::move(attributes));
}

// Every shape that broadcasts to the result of a Gemm.
Shape DrawBiasShape(Sketch& sketch, int64_t rows, int64_t columns) {
  const std::vector<Shape> shapes = {{columns}, {columns}, {1, columns}, {},
                                     {1},       {1, 1},    {rows, 1},    {rows, columns}};
  return sketch.dice.Pick(shapes);
}

MaybeStep DrawGemm(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.size() != 2) return std::nullopt;
  const int64_t results = sketch.dice.Between(1, 6);
  const bool transposed = sketch.dice.Chance(60);
  std::vector<ValueId> inputs = {
      x,
      sketch.RealConstant(transposed ? Shape{results, shape[1]} : Shape{shape[1], results}, 0.7)};
  if (sketch.dice.Chance(70)) {
    inputs.push_back(sketch.RealConstant(DrawBiasShape(sketch, shape[0], results), 1));
  }
  return Of("Gemm", std::move(inputs), {{"transB", int64_t{transposed}}});
}

MaybeStep DrawMatMul(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.size() < 2) return std::nullopt;
  std::vector<ValueId> fitting;
  for (const ValueId id : sketch.values) {
    const Shape& other = sketch.ShapeOf(id);
    if (other.size() == 2 && other[0] == shape.back()) fitting.push_back(id);
  }
  const bool computed = !fitting.empty() && sketch.dice.Chance(60);
  return Of("MatMul",
            {x, computed ? sketch.dice.Pick(fitting)
                         : sketch.RealConstant({shape.back(), sketch.dice.Between(1, 5)}, 0.7)});
}

MaybeStep DrawPool(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.size() != 4) return std::nullopt;
  if (sketch.dice.Chance(15)) return Of("GlobalAveragePool", {x});
  const int64_t kernel = std::min<int64_t>(sketch.dice.Between(1, 2), std::min(shape[2], shape[3]));
  AttrMap attributes = {{"kernel_shape", Ints{kernel, kernel}}};
  if (sketch.dice.Chance(50)) attributes.Set("strides", Ints{kernel, kernel});
  if (kernel == 2 && sketch.dice.Chance(25)) attributes.Set("pads", Ints{1, 0, 0, 1});
  return Of(sketch.dice.Chance(60) ? "MaxPool" : "AveragePool", {x}, std::move(attributes));
}

MaybeStep DrawReduce(Sketch& sketch, ValueId x) {
  const int64_t rank = static_cast<int64_t>(sketch.ShapeOf(x).size());
  if (rank < 2) return std::nullopt;
  return Of("ReduceMean", {x, sketch.Ints({sketch.dice.Below(rank)})},
            {{"keepdims", sketch.dice.Below(2)}});
}

MaybeStep DrawReshape(Sketch& sketch, ValueId x) {
  Shape shape = sketch.ShapeOf(x);
  const int64_t axis = shape.empty() ? 0 : sketch.dice.Below(static_cast<int64_t>(shape.size()));
  if (shape.size() >= 2 && sketch.dice.Chance(60)) {  // join two adjacent axes
    const int64_t first = std::min<int64_t>(axis, static_cast<int64_t>(shape.size()) - 2);
    shape[first] *= shape[first + 1];
    shape.erase(shape.begin() + first + 1);
  } else if (!shape.empty() && shape[axis] % 2 == 0 && shape.size() < 5) {
    shape[axis] /= 2;
    shape.insert(shape.begin() + axis + 1, 2);
  }
  return Of("Reshape", {x, sketch.Ints(shape)});
}

MaybeStep DrawTranspose(Sketch& sketch, ValueId x) {
  Ints order(sketch.ShapeOf(x).size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[sketch.dice.Below(static_cast<int64_t>(i))]);
  }
  return Of("Transpose", {x}, {{"perm", order}});
}

MaybeStep DrawFlatten(Sketch& sketch, ValueId x) {
  return Of("Flatten", {x}, {{"axis", sketch.dice.Below(1 + sketch.ShapeOf(x).size())}});
}

MaybeStep DrawSqueeze(Sketch& sketch, ValueId x) {
  const Shape& shape = sketch.ShapeOf(x);
  const auto one = std::find(shape.begin(), shape.end(), 1);
  if (one != shape.end() && shape.size() > 1 && sketch.dice.Chance(60)) {
    return Of("Squeeze", {x, sketch.Ints({one - shape.begin()})});
  }
  if (shape.size() >= 5) return std::nullopt;
  return Of("Unsqueeze", {x, sketch.Ints({sketch.dice.Below(1 + shape.size())})});
}

MaybeStep DrawSlice(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.empty()) return std::nullopt;
  const int64_t axis = sketch.dice.Below(static_cast<int64_t>(shape.size()));
  const int64_t begin = sketch.dice.Below(shape[axis]);
  const int64_t end = sketch.dice.Between(begin + 1, shape[axis]);
  return Of("Slice", {x, sketch.Ints({begin}), sketch.Ints({end}), sketch.Ints({axis}),
                      sketch.Ints({sketch.dice.Chance(80) ? 1 : 2})});
}

MaybeStep DrawPad(Sketch& sketch, ValueId x) {
  const size_t rank = sketch.ShapeOf(x).size();
  if (rank == 0) return std::nullopt;
  Ints pads(2 * rank, 0);
  pads[sketch.dice.Below(static_cast<int64_t>(pads.size()))] = 1;
  std::vector<ValueId> inputs = {x, sketch.Ints(pads)};
  if (sketch.dice.Chance(30)) inputs.push_back(sketch.Scalar(sketch.dice.Chance(50) ? 0.0f : 1.0f));
  return Of("Pad", std::move(inputs));
}

MaybeStep DrawConcat(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.empty()) return std::nullopt;
  std::vector<ValueId> inputs = {x};
  for (int64_t more = sketch.dice.Between(1, 2); more > 0; --more) {
    inputs.push_back(sketch.dice.Chance(10) ? sketch.RealConstant(shape, 2)
                                            : sketch.ValueOfShape(shape));
  }
  return Of("Concat", std::move(inputs),
            {{"axis", sketch.dice.Below(static_cast<int64_t>(shape.size()))}});
}

MaybeStep DrawSplit(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    Step step =
        Of("Split", {x, sketch.Ints({1, shape[axis] - 1})}, {{"axis", static_cast<int64_t>(axis)}});
    step.results = 2;
    return step;
  }
  return std::nullopt;
}

MaybeStep DrawGather(Sketch& sketch, ValueId x) {
  const Shape shape = sketch.ShapeOf(x);
  if (shape.empty()) return std::nullopt;
  const int64_t axis = sketch.dice.Below(static_cast<int64_t>(shape.size()));
  Ints indices(sketch.dice.Between(1, 3));
  for (int64_t& index : indices) index = sketch.dice.Below(shape[axis]);
  return Of("Gather", {x, sketch.Ints(indices)}, {{"axis", axis}});
}

MaybeStep DrawRepeat(Sketch& sketch, ValueId x) {
  Shape shape = sketch.ShapeOf(x);
  const auto one = std::find(shape.begin(), shape.end(), 1);
  if (one != shape.end() && sketch.dice.Chance(60)) {
    *one = 2;
    return Of("Expand", {x, sketch.Ints(shape)});
  }
  if (shape.empty()) return std::nullopt;
  Ints repeats(shape.size(), 1);
  repeats[sketch.dice.Below(static_cast<int64_t>(repeats.size()))] = sketch.dice.Between(1, 2);
  return Of("Tile", {x, sketch.Ints(repeats)});
}

MaybeStep DrawDepthToSpace(Sketch& sketch, ValueId x) {
  const Shape& shape = sketch.ShapeOf(x);
  if (shape.size() != 4) return std::nullopt;
  if (shape[1] % 4 == 0) return Of("DepthToSpace", {x}, {{"blocksize", int64_t{2}}});
  if (shape[2] % 2 || shape[3] % 2) return std::nullopt;
  return Of("SpaceToDepth", {x}, {{"blocksize", int64_t{2}}});
}

struct Row {
  MaybeStep (*draw)(Sketch& sketch, ValueId x) = nullptr;
  int weight = 1;
};
constexpr Row kRows[] = {
    {&DrawUnary, 5},         {&DrawClip, 2},    {&DrawBinary, 6},  {&DrawConv, 7},
    {&DrawGemm, 5},          {&DrawMatMul, 2},  {&DrawPool, 4},    {&DrawReduce, 1},
    {&DrawConvTranspose, 3}, {&DrawReshape, 3}, {&DrawFlatten, 1}, {&DrawTranspose, 3},
    {&DrawSqueeze, 1},       {&DrawSlice, 2},   {&DrawPad, 2},     {&DrawConcat, 4},
    {&DrawSplit, 2},         {&DrawGather, 1},  {&DrawRepeat, 1},  {&DrawDepthToSpace, 1},
};

}  // namespace

Shape DrawInputShape(Dice& dice) {
  if (dice.Chance(30)) return {dice.Between(1, 3), dice.Between(2, 6)};
  return {1, dice.Between(1, 4), dice.Between(2, 5), dice.Between(2, 5)};
}

ValueId Sketch::AnyValue() {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t near = std::min<int64_t>(count, 3);
  return values[dice.Chance(70) ? count - 1 - dice.Below(near) : dice.Below(count)];
}

ValueId Sketch::ValueOfShape(const Shape& shape) {
  std::vector<ValueId> fitting;
  for (const ValueId id : values) {
    if (ShapeOf(id) == shape) fitting.push_back(id);
  }
  return dice.Pick(fitting);
}

ValueId Sketch::RealConstant(const Shape& shape, double size) {
  ir::Tensor tensor(ir::DType::kF32, shape);
  for (float& element : tensor.mutable_values<float>()) {
    element = static_cast<float>(dice.Real(-size, size));
  }
  return graph.AddConstant(graph.UniqueName("c"), std::move(tensor));
}

ValueId Sketch::Scalar(float value) {
  return graph.AddConstant(graph.UniqueName("c"), ir::Tensor::Scalar<float>(value));
}

ValueId Sketch::Ints(const std::vector<int64_t>& values) {
  return graph.AddConstant(graph.UniqueName("c"), ir::Tensor::Ints(values));
}

MaybeStep DrawStep(Sketch& sketch, ValueId x) {
  int total = 0;
  for (const Row& row : kRows) total += row.weight;
  int64_t at = sketch.dice.Below(total);
  for (const Row& row : kRows) {
    at -= row.weight;
    if (at >= 0) continue;
    MaybeStep step = row.draw(sketch, x);
    if (!step) return step;
    const auto types = ir::InferNode(sketch.graph, *step->op, "step", step->inputs,
                                     step->attributes, step->results);
    if (!types) return std::nullopt;
    for (const ir::Type& type : *types) {
      if (type.elements() == 0 || type.elements() > kMaxElements) return std::nullopt;
    }
    return step;
  }
  return std::nullopt;
}

}  // namespace octavo::test

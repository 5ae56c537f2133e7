// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/quantized_nets.h"

#include <random>

#include "core/ops/op_table.h"

namespace octavo::bench {
namespace {

using ir::Shape;
using ir::Type;
using ir::ValueId;

class Builder {
 public:
  explicit Builder(uint32_t seed) : random_(seed) {}

  ValueId Input(int64_t channels, int64_t size) {
    return graph_.AddInput("x", Quantized({1, channels, size, size}));
  }

  // 3x3 or 1x1, with stride 1 or 2, followed by a Relu.
  ValueId Conv(ValueId x, int64_t channels, int64_t kernel = 3, int64_t stride = 1) {
    const Shape& in = ShapeOf(x);
    const Shape weights = {channels, in[1], kernel, kernel};
    const ValueId w =
        graph_.AddConstant(Name("w"), ir::MakePayload(ir::Tensor(ir::DType::kI8, weights)),
                           {ir::DType::kI8, weights, ir::Quant::PerTensor(0.01f, 0), {}});
    const int64_t pad = kernel / 2;
    const ValueId y = Add("Conv", {x, w}, {1, channels, in[2] / stride, in[3] / stride},
                          {{"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                           {"strides", std::vector<int64_t>{stride, stride}}});
    return Add("Relu", {y}, ShapeOf(y));
  }
  ValueId Sum(ValueId a, ValueId b) { return Add("Add", {a, b}, ShapeOf(a)); }

  ValueId MaxPool(ValueId x, int64_t stride) {
    const Shape& in = ShapeOf(x);
    return Move("MaxPool", {x}, {in[0], in[1], in[2] / stride, in[3] / stride},
                {{"kernel_shape", std::vector<int64_t>{3, 3}},
                 {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                 {"strides", std::vector<int64_t>{stride, stride}}});
  }
  ValueId AveragePool(ValueId x) {
    const Shape& in = ShapeOf(x);
    return Add(
        "AveragePool", {x}, {in[0], in[1], in[2] / 2, in[3] / 2},
        {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  }
  ValueId Concat(const std::vector<ValueId>& values) {
    Shape shape = ShapeOf(values[0]);
    shape[1] = 0;
    for (const ValueId value : values) shape[1] += ShapeOf(value)[1];
    return Move("Concat", values, shape, {{"axis", int64_t{1}}});
  }
  ValueId Enlarge(ValueId x) {
    Shape shape = ShapeOf(x);
    shape[2] *= 2;
    shape[3] *= 2;
    const ValueId scales =
        graph_.AddConstant(Name("scales"), ir::Tensor::Of<float>({4}, {1, 1, 2, 2}));
    return Move("Resize", {x, {}, scales}, shape,
                {{"mode", std::string("nearest")},
                 {"coordinate_transformation_mode", std::string("asymmetric")},
                 {"nearest_mode", std::string("floor")}});
  }
  ValueId Crop(ValueId x, int64_t first, int64_t channels) {
    Shape shape = ShapeOf(x);
    shape[1] = channels;
    return Move("Slice", {x, Ints({first}), Ints({first + channels}), Ints({1})}, shape);
  }
  // Distributes channels over `groups`, as ShuffleNet does between its grouped convolutions.
  ValueId Shuffle(ValueId x, int64_t groups) {
    const Shape in = ShapeOf(x);
    const Shape apart = {1, groups, in[1] / groups, in[2], in[3]};
    const Shape dealt = {1, in[1] / groups, groups, in[2], in[3]};
    const ValueId split = Move("Reshape", {x, Ints(apart)}, apart);
    const ValueId turned =
        Move("Transpose", {split}, dealt, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
    return Move("Reshape", {turned, Ints(in)}, in);
  }
  void Output(ValueId x) {
    const ValueId output = Emit("Dequantize", "octavo", {x}, {ir::DType::kF32, ShapeOf(x), {}, {}});
    graph_.AddOutput(output);
  }

  ir::Graph Finish() { return std::move(graph_); }

 private:
  Shape ShapeOf(ValueId x) const { return graph_.type(x).shape; }
  std::string Name(const std::string& base) { return base + std::to_string(++names_); }
  ValueId Ints(const std::vector<int64_t>& values) {
    return graph_.AddConstant(Name("c"), ir::Tensor::Ints(values));
  }

  // A type with its own parameters, for a range between 2 and 8.
  Type Quantized(Shape shape) {
    const float scale = std::uniform_real_distribution<float>(2, 8)(random_) / 255;
    return {ir::DType::kU8, std::move(shape), ir::Quant::PerTensor(scale, 0), {}};
  }

  ValueId Emit(std::string_view op, std::string_view domain, std::vector<ValueId> inputs, Type type,
               ir::AttrMap attributes = {}) {
    const ir::NodeId node = graph_.AddNode({.op = ops::FindOp(op, domain),
                                            .inputs = std::move(inputs),
                                            .attributes = std::move(attributes),
                                            .results = {{Name("v"), std::move(type)}}});
    return graph_.node(node).result();
  }
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, const Shape& shape,
              ir::AttrMap attributes = {}) {
    return Emit(op, "", std::move(inputs), Quantized(shape), std::move(attributes));
  }

  // A same-scale op; Rescales convert all data operands to its type.
  ValueId Move(std::string_view op, std::vector<ValueId> inputs, const Shape& shape,
               ir::AttrMap attributes = {}) {
    const Type own = Quantized(shape);
    for (ValueId& input : inputs) {
      if (!input || !graph_.type(input).quantized()) continue;
      Type type = own;
      type.shape = ShapeOf(input);
      input = Emit("Rescale", "octavo", {input}, std::move(type));
    }
    return Emit(op, "", std::move(inputs), own, std::move(attributes));
  }

  std::mt19937 random_;
  ir::Graph graph_;
  int names_ = 0;
};

ir::Graph DenseNet() {
  Builder net(1);
  ValueId x = net.MaxPool(net.Conv(net.Input(3, 224), 64, 3, 2), 2);
  for (const int layers : {6, 12, 24, 16}) {
    for (int layer = 0; layer < layers; ++layer) {
      x = net.Concat({x, net.Conv(net.Conv(x, 128, 1), 32)});
    }
    if (layers != 16) x = net.AveragePool(net.Conv(x, 128, 1));
  }
  net.Output(x);
  return net.Finish();
}

ir::Graph Inception() {
  Builder net(2);
  ValueId x = net.MaxPool(net.Conv(net.Input(3, 224), 64, 3, 2), 2);
  for (int module = 0; module < 9; ++module) {
    const ValueId wide = net.Conv(net.Conv(net.Conv(x, 32, 1), 48), 48);
    x = net.Concat({net.Conv(x, 64, 1), net.Conv(net.Conv(x, 48, 1), 64), wide,
                    net.Conv(net.MaxPool(x, 1), 32, 1)});
    if (module % 3 == 2) x = net.MaxPool(x, 2);
  }
  net.Output(x);
  return net.Finish();
}

ir::Graph ShuffleNet() {
  Builder net(3);
  ValueId x = net.Conv(net.Input(3, 224), 24, 3, 2);
  x = net.MaxPool(x, 2);
  for (const int64_t channels : {116, 232, 464}) {
    x = net.Shuffle(net.Concat({net.Conv(x, channels / 2, 1, 2), net.Conv(x, channels / 2, 3, 2)}),
                    2);
    for (int unit = 0; unit < 4; ++unit) {
      const ValueId kept = net.Crop(x, 0, channels / 2);
      const ValueId used = net.Crop(x, channels / 2, channels / 2);
      x = net.Shuffle(net.Concat({kept, net.Conv(net.Conv(used, channels / 2, 1), channels / 2)}),
                      2);
    }
  }
  net.Output(x);
  return net.Finish();
}

ir::Graph UNet() {
  Builder net(4);
  ValueId x = net.Input(3, 256);
  std::vector<ValueId> skips;
  for (const int64_t channels : {32, 64, 128, 256}) {
    x = net.Conv(net.Conv(x, channels), channels);
    skips.push_back(x);
    x = net.MaxPool(x, 2);
  }
  x = net.Conv(x, 512);
  for (int64_t channels = 256; !skips.empty(); channels /= 2) {
    x = net.Concat({net.Enlarge(x), skips.back()});
    skips.pop_back();
    x = net.Conv(net.Conv(x, channels), channels);
    x = net.Sum(x, net.Conv(x, channels, 1));
  }
  net.Output(x);
  return net.Finish();
}

}  // namespace

std::vector<Net> QuantizedNets() {
  std::vector<Net> nets;
  nets.push_back({"densenet-like", DenseNet()});
  nets.push_back({"inception-like", Inception()});
  nets.push_back({"shufflenet-like", ShuffleNet()});
  nets.push_back({"u-net-like", UNet()});
  return nets;
}

}  // namespace octavo::bench

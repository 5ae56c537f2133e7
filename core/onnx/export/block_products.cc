// SPDX-License-Identifier: Apache-2.0
// The part of GraphWriter that writes weights in blocks in the form that ONNX Runtime fuses to
// MatMulNBits: a matrix whose first axis has the blocks, so that a Gemm does not transpose it.
#include <algorithm>

#include "core/ir/blocks.h"
#include "core/onnx/export/graph_writer.h"

namespace octavo::onnx {
namespace {

using Named = ModelWriter::Named;

bool IsProduct(const ir::Node& node) {
  return node.op->domain.empty() && (node.op->name == "MatMul" || node.op->name == "Gemm");
}

// Of a matrix whose elements have a byte or a float.
template <class T>
ir::Tensor Transposed(const ir::Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  ir::Tensor result(matrix.dtype(), {columns, rows});
  const auto from = matrix.values<T>();
  const auto to = result.mutable_values<T>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[static_cast<size_t>(c * rows + r)] = from[static_cast<size_t>(r * columns + c)];
    }
  }
  return result;
}

}  // namespace

// The blocked constant that a product multiplies; invalid if there is none.
ir::ValueId GraphWriter::BlocksOf(const ir::Node& node) const {
  const ir::ValueId real = node.input(1);
  const ir::Node* producer = real && IsProduct(node) ? graph_.Producer(real) : nullptr;
  if (producer == nullptr || producer->op != dequantize_ || graph_.IsOutput(real)) return {};
  const ir::ValueId blocked = producer->input(0);
  const ir::Type& type = graph_.type(blocked);
  const bool bytes = ir::SizeOf(type.dtype) == 1 && type.shape.size() == 2;
  return type.blocked() && bytes && graph_.IsConstant(blocked) ? blocked : ir::ValueId{};
}

std::vector<std::string> GraphWriter::TransposedBlocks(ir::ValueId blocked,
                                                       const std::string& stem) {
  const ir::Type& type = graph_.type(blocked);
  const ir::Shape scales = ir::ScaleShape(*type.quant, type.shape);
  std::vector<std::string> inputs = {names_.Unique(stem + ".q"), names_.Unique(stem + ".scale")};
  writer_.Initializer(inputs[0], Transposed<uint8_t>(graph_.value(blocked).constant->tensor),
                      Named::kInternal);
  writer_.Initializer(inputs[1],
                      Transposed<float>(ir::Tensor::Of<float>(scales, type.quant->scales)),
                      Named::kInternal);
  const std::vector<int32_t>& zero_points = type.quant->zero_points;
  if (std::ranges::all_of(zero_points, [](int32_t zero) { return zero == 0; })) return inputs;
  ir::Tensor zeros(type.dtype, scales);
  for (size_t i = 0; i < zero_points.size(); ++i) {
    zeros.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(zero_points[i]);
  }
  inputs.push_back(names_.Unique(stem + ".zero_point"));
  writer_.Initializer(inputs[2], Transposed<uint8_t>(zeros), Named::kInternal);
  return inputs;
}

std::string GraphWriter::WeightForRuntime(const ir::Node& node, ir::AttrMap& attributes) {
  const ir::ValueId blocked = BlocksOf(node);
  if (!blocked || attributes.Int("transB", 0) == 0) return {};
  const ir::Type& type = graph_.type(blocked);
  if (*type.quant->axis != 1) return {};
  attributes.Erase("transB");
  std::string& name = transposed_[blocked];
  if (!name.empty()) return name;
  NeedForQuant(type, graph_.name(blocked));
  name = names_.Unique(names_.Of(blocked).dequantized + ".t");
  ir::AttrMap blocks = AxisOf(type);
  blocks.Set("axis", int64_t{0});
  writer_.Typed(name, {ir::DType::kF32, {type.shape[1], type.shape[0]}, {}, {}});
  writer_.Node(names_.UniqueNode(name + ".dequantize"), "DequantizeLinear", "",
               TransposedBlocks(blocked, name), {name}, blocks);
  return name;
}

}  // namespace octavo::onnx

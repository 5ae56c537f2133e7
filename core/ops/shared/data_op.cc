// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/data_op.h"

#include <algorithm>
#include <array>

#include "core/ir/infer.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {

using ir::DType;

Result<int> CheckedAxis(const ir::InferContext& context, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return context.Invalid("axis {} is outside of rank {}", axis, rank).Field("axis");
  }
  return FrontAxis(axis, rank);
}

Failure DependsOnData(const ir::InferContext& context, size_t input, std::string_view what) {
  return context.Unsupported("{} depends on data; it must follow from constants and shapes", what)
      .Reason(ir::kDependsOnData)
      .Field(std::to_string(input));
}

std::optional<std::vector<int64_t>> ConstantInts(const ir::Graph& graph, ir::ValueId id) {
  if (!id || !graph.IsConstant(id)) return std::nullopt;
  const ir::Tensor& tensor = graph.value(id).constant->tensor;
  if (!ir::IsInteger(tensor.dtype())) return std::nullopt;
  return tensor.ToInts();
}

// By TensorProto.DataType number.
constexpr std::array<std::optional<DType>, 17> kDTypes = {
    std::nullopt, DType::kF32, DType::kU8,   DType::kI8,   DType::kU16, DType::kI16,
    DType::kI32,  DType::kI64, std::nullopt, DType::kBool, DType::kF16, DType::kF64,
    DType::kU32,  DType::kU64, std::nullopt, std::nullopt, DType::kBF16};

std::optional<DType> DTypeOfNumber(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kDTypes.size())) return std::nullopt;
  return kDTypes[number];
}

int64_t NumberOfDType(DType dtype) {
  return std::ranges::find(kDTypes, std::optional(dtype)) - kDTypes.begin();
}

std::optional<ir::Shape> Broadcast(const ir::Shape& a, const ir::Shape& b) {
  const ir::Shape& longer = a.size() >= b.size() ? a : b;
  const ir::Shape& shorter = a.size() >= b.size() ? b : a;
  ir::Shape shape = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = shape[lead + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = shorter[i];
  }
  return shape;
}

ir::Shape BroadcastStrides(const ir::Shape& shape, const ir::Shape& to) {
  const ir::Shape dense = ir::StridesOf(shape);
  ir::Shape strides(to.size(), 0);
  const size_t lead = to.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) strides[lead + i] = dense[i];
  }
  return strides;
}

ir::Tensor BroadcastTo(const ir::Tensor& tensor, const ir::Shape& shape, ThreadPool* pool) {
  if (tensor.shape() == shape) return tensor;
  ir::Tensor result(tensor.dtype(), shape);
  Gather(shape, BroadcastStrides(tensor.shape(), shape), ir::SizeOf(tensor.dtype()), tensor.raw(),
         result.mutable_raw(), pool);
  return result;
}

ir::Quant PickChannels(const ir::Quant& from, const std::vector<int64_t>& channels, int axis) {
  ir::Quant quant{{}, {}, axis, 0};
  for (const int64_t c : channels) {
    quant.scales.push_back(from.scale(c));
    quant.zero_points.push_back(from.zero_point(c));
  }
  return quant;
}

ir::Quant OnAxis(const ir::Quant& from, int axis) {
  ir::Quant quant = from;
  quant.axis = axis;
  return quant;
}

Status InferSameType(ir::InferContext& context) {
  context.SetResult(0, context.dtype(0), context.shape(0));
  return {};
}

int FirstInput(const ir::Graph&, const ir::Node&) { return 0; }

int OnlyInput(const ir::Graph&, const ir::Node& node) { return node.inputs.size() == 1 ? 0 : -1; }

}  // namespace octavo::ops

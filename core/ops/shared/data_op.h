// SPDX-License-Identifier: Apache-2.0
// Helpers for op rows: axis checks, element types, broadcast, axis rules.
#pragma once

#include <optional>

#include "core/ir/graph.h"
#include "core/ops/shared/rules.h"

namespace octavo::ops {

// `axis` counted from the front; requires -rank <= axis < rank.
Result<int> CheckedAxis(const ir::InferContext& context, int64_t axis, int rank);
// The same, for an axis that inference has already checked.
inline int FrontAxis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// The error if a type depends on unknown elements of an input.
Failure DependsOnData(const ir::InferContext& context, size_t input, std::string_view what);

// The elements of an integer constant; nullopt for any other value.
std::optional<std::vector<int64_t>> ConstantInts(const ir::Graph& graph, ir::ValueId id);
// The dtype for a TensorProto.DataType number; nullopt for strings, complex and sub-byte types.
std::optional<ir::DType> DTypeOfNumber(int64_t number);
// The number of one of these dtypes.
int64_t NumberOfDType(ir::DType dtype);

// ONNX's multidirectional broadcast; nullopt if two extents differ and neither is 1.
std::optional<ir::Shape> Broadcast(const ir::Shape& a, const ir::Shape& b);
// The strides that address a tensor of `shape` as if it had the shape `to`: 0 along repeated axes.
ir::Shape BroadcastStrides(const ir::Shape& shape, const ir::Shape& to);
// The tensor broadcast to `shape`: repeated elements are copied.
ir::Tensor BroadcastTo(const ir::Tensor& tensor, const ir::Shape& shape, ThreadPool* pool);

// For map_quant: the parameters of the given channels of `from`, along `axis` of the result.
ir::Quant PickChannels(const ir::Quant& from, const std::vector<int64_t>& channels, int axis);
// The same parameters along another axis.
ir::Quant OnAxis(const ir::Quant& from, int axis);

// Inference for ops whose result has the type of their first input.
Status InferSameType(ir::InferContext& context);

// For identity_of.  FirstInput: input 0 if shape and dtype are unchanged.  OnlyInput: input 0 if it
// is the only one.
int FirstInput(const ir::Graph& graph, const ir::Node& node);
int OnlyInput(const ir::Graph& graph, const ir::Node& node);

// Calls f(T{}) with the C++ type of an element.  Returns false for 16-bit floats, which have no C++
// type: the float executor passes f32 to a definition instead (core/float_exec/half.h).
template <class F>
bool VisitDType(ir::DType dtype, F&& f) {
  switch (dtype) {
    case ir::DType::kF32:
      return f(float{}), true;
    case ir::DType::kF64:
      return f(double{}), true;
    case ir::DType::kI8:
    case ir::DType::kI4:
      return f(int8_t{}), true;
    case ir::DType::kU8:
    case ir::DType::kU4:
      return f(uint8_t{}), true;
    case ir::DType::kI16:
      return f(int16_t{}), true;
    case ir::DType::kU16:
      return f(uint16_t{}), true;
    case ir::DType::kI32:
      return f(int32_t{}), true;
    case ir::DType::kU32:
      return f(uint32_t{}), true;
    case ir::DType::kI64:
      return f(int64_t{}), true;
    case ir::DType::kU64:
      return f(uint64_t{}), true;
    case ir::DType::kBool:
      return f(bool{}), true;
    case ir::DType::kF16:
    case ir::DType::kBF16:
      return false;
  }
  return false;
}

// The error that a definition returns for data that inference could not check.
template <class... Args>
Failure BadData(const ir::EvalContext& context, fmt::format_string<Args...> format,
                Args&&... args) {
  return Fail(Code::kInvalidArgument, "{} '{}': {}", context.node.op->name, context.node.name,
              fmt::format(format, std::forward<Args>(args)...))
      .Node(context.node.name);
}

}  // namespace octavo::ops

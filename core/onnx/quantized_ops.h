// ONNX's quantization operators as nodes of the graph: QuantizeLinear and DequantizeLinear become
// Quantize and Dequantize, the QLinear forms the plain operators on quantized types.  (ConvInteger,
// MatMulInteger and DynamicQuantizeLinear compute with plain integers and are ordinary operators.)
#pragma once

#include "core/onnx/graph_builder.h"

namespace octavo::onnx {

// The reason of the error that says that a scale or zero point is known at a run only; its field
// is the value's name.
inline constexpr std::string_view kDynamicQuantization = "DYNAMIC_QUANTIZATION";

using QuantizedOp = Status (*)(GraphBuilder& builder, const Draft& draft);

// Null for an operator that is none of them.
QuantizedOp FindQuantizedOp(std::string_view op);

}  // namespace octavo::onnx

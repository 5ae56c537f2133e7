// ONNX's quantization operators as nodes of the graph: QuantizeLinear and DequantizeLinear become
// Quantize and Dequantize, the QLinear and Integer forms the plain operators on quantized types.
#pragma once

#include "core/onnx/graph_builder.h"

namespace octavo::onnx {

using QuantizedOp = Status (*)(GraphBuilder& builder, const Draft& draft);

// Null for an operator that is none of them.
QuantizedOp FindQuantizedOp(std::string_view op);

}  // namespace octavo::onnx

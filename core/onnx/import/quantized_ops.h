// SPDX-License-Identifier: Apache-2.0
// ONNX's quantization operators as nodes of the graph: QuantizeLinear and DequantizeLinear become
// Quantize and Dequantize, QLinear operators become the plain ones on quantized operands.
// ConvInteger, MatMulInteger and DynamicQuantizeLinear compute with plain integers and are ordinary
// operators.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

using QuantizedOp = Status (*)(GraphBuilder& builder, const Draft& draft);

// Null for an operator that is none of them.  `domain`: ONNX's own ("") or ONNX Runtime's.
QuantizedOp FindQuantizedOp(std::string_view op, std::string_view domain);

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
// Imports ONNX's quantization operators: QuantizeLinear and DequantizeLinear become Quantize and
// Dequantize; QLinear operators become the corresponding ops on quantized operands.  ConvInteger,
// MatMulInteger and DynamicQuantizeLinear compute with unquantized integers and are ordinary
// operators.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

using QuantizedOp = Status (*)(GraphBuilder& builder, const Draft& draft);

// Null for any other operator.  `domain`: ONNX's own ("") or ONNX Runtime's.
QuantizedOp FindQuantizedOp(std::string_view op, std::string_view domain);

}  // namespace octavo::onnx

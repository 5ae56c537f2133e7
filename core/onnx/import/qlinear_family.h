// SPDX-License-Identifier: Apache-2.0
// The QLinear operators of ONNX Runtime (domain com.microsoft): QLinearAdd, QLinearConcat and the
// others are by definition Dequantize of each operand, the plain operator, Quantize of the result.
// That is what they become; fold_qdq makes integer arithmetic of it where that keeps the meaning.
// Schemas: ONNX Runtime's docs/ContribOperators.md.
#pragma once

#include "core/onnx/import/quantized_ops.h"

namespace octavo::onnx {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

// Null for an operator that is none of them.
QuantizedOp FindQLinearOp(std::string_view op);

}  // namespace octavo::onnx

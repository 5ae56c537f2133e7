// SPDX-License-Identifier: Apache-2.0
// The QLinear operators of ONNX Runtime (domain com.microsoft): QLinearAdd, QLinearConcat and the
// others.  By definition, each one dequantizes its operands, applies the float operator and
// quantizes the result.  Import writes them in that form; fold_qdq turns it into integer arithmetic
// where this preserves the semantics.  Schemas: ONNX Runtime's docs/ContribOperators.md.
#pragma once

#include "core/onnx/import/quantized_ops.h"

namespace octavo::onnx {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

// Null for any other operator.
QuantizedOp FindQLinearOp(std::string_view op);

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
// Inputs of ONNX's quantization operators: a tensor of integers, its scale and its zero point.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

// The error reason for a scale or zero point that is not constant; the error's field is the value's
// name.
inline constexpr std::string_view kDynamicQuantization = "DYNAMIC_QUANTIZATION";

// kInvalidArgument unless inputs [0, count) are present and there is exactly one output.
Status NeedInputs(const Draft& draft, size_t count);

// The scales in the constant: kUnimplemented unless they are float32.
Result<std::span<const float>> FloatScales(const Draft& draft, const ir::Tensor& scale);
// Those of the constant at `input`, kInvalidArgument unless all are positive and finite.
Result<std::span<const float>> ScalesOf(const GraphBuilder& builder, const Draft& draft,
                                        size_t input, const ir::Tensor& scale);

// Scale and zero point (0 if absent) at inputs [at, at + 1].  `axis` of a value of `rank` applies
// if there is more than one scale.
Result<ir::Quant> ReadQuant(const GraphBuilder& builder, const Draft& draft, size_t at,
                            int64_t axis, int64_t rank);

// The type of the zero point at `input`, or the fallback if it is absent.
ir::DType StorageOf(const GraphBuilder& builder, const Draft& draft, size_t input,
                    ir::DType fallback);

// The value at input `value`, quantized with the parameters at [parameters, parameters + 1].
Result<ir::ValueId> QuantizedOperand(GraphBuilder& builder, const Draft& draft, size_t value,
                                     size_t parameters, int64_t axis);

// The int32 bias at input `bias` of a product of x and w with that many output channels, at the
// scale of their sum.  kUnimplemented where x has several scales, or w has and the bias is not one
// value per channel.
Result<ir::ValueId> QuantizedBias(GraphBuilder& builder, const Draft& draft, size_t bias,
                                  ir::ValueId x, ir::ValueId w, int64_t channels);

// The per-tensor type of a result with the parameters at [parameters, parameters + 1]; no shape.
Result<ir::Type> ResultType(GraphBuilder& builder, const Draft& draft, size_t parameters);

}  // namespace octavo::onnx

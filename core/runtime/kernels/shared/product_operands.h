// SPDX-License-Identifier: Apache-2.0
// Operands of integer convolutions and matrix products.  Their definition is
//  clamp(rne(float(sum((x - zx) * (w - zw)) + bias) * m) + z)
// or, for a float result,
//  float(sum((x - zx) * (w - zw)) + bias) * (s_x * s_w).
#pragma once

#include "core/runtime/int8/types.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether the result is float, and the mode has the definition above.
bool IsFloatOfProduct(const NodeView& view);
// Whether the operands are quantized: x per-tensor, w per-tensor or along `weight_axis`, an int32
// bias (input `bias`) or none, and a result that is per-tensor, or float where the mode defines
// that.
bool IsIntegerProduct(const NodeView& view, int weight_axis, size_t bias = 2);
// As IsIntegerProduct, with 8-bit operands, an 8-bit or float result, and constant w and bias.
bool IsInt8Product(const NodeView& view, int weight_axis, size_t bias = 2);

// q - z as int32, with the zero point of each element's channel.
void Center(const ir::Tensor& x, const ir::Quant& quant, int32_t* centered);

// The bias as `channels` int64 elements; zeros if there is none.
std::vector<int64_t> BiasOf(const ir::Tensor* bias, int64_t channels);
// A constant int32 bias; empty if there is none.
std::span<const int32_t> ConstantBias(const NodeView& view, size_t input = 2);

int8::Activation ActivationOf(const ir::Type& type);
// `zero_points` must outlive the result.
int8::Weights WeightsOf(const ir::Type& type, const ir::Tensor& weights);
// The multipliers m, or the scales of a float result, for `channels` output channels.
std::vector<float> MultipliersOf(const NodeView& view, int64_t channels);
// Requantization to `type`, that of the node's result, which may be float.
int8::Requantization RequantizationOf(const ir::Type& type, std::span<const float> multipliers);

// Stores element i of a tensor of integers of up to 32 bits.
void StoreInteger(ir::Tensor& tensor, int64_t i, int32_t value);

}  // namespace octavo::runtime

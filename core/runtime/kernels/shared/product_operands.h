// SPDX-License-Identifier: Apache-2.0
// Operands of integer convolutions and matrix products.  Their definition is
//  clamp(rne(float(sum((x - zx) * (w - zw)) + bias) * m) + z).
#pragma once

#include "core/runtime/int8/types.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether the operands are quantized: x per-tensor, w per-tensor or along `weight_axis`, an int32
// bias (input `bias`) or none, and a per-tensor result.
bool IsIntegerProduct(const NodeView& view, int weight_axis, size_t bias = 2);
// As IsIntegerProduct, with all types except the bias 8-bit, and with constant w and bias.
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
// Requantization to `type`, that of the node's result.
int8::Requantization RequantizationOf(const ir::Type& type, std::span<const float> multipliers);

// Stores element i of a tensor of integers of up to 32 bits.
void StoreInteger(ir::Tensor& tensor, int64_t i, int32_t value);

}  // namespace octavo::runtime

// What integer convolutions and matrix products share: which operands they take, and the sums'
// definition  clamp(rne(float(sum((x - zx) * (w - zw)) + bias) * m) + z).
#pragma once

#include <optional>

#include "core/runtime/int8/types.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Quantized operands of a node: x per-tensor, w per-tensor or along `weight_axis`, a bias (input
// `bias`) of int32 codes or none, a per-tensor result.
bool IsIntegerProduct(const NodeView& view, int weight_axis, size_t bias = 2);
// The same with everything in 8 bits, and w and the bias constant.
bool IsInt8Product(const NodeView& view, int weight_axis, size_t bias = 2);

// Codes minus zero points as int32; element i belongs to channel (i / stride) mod channels.
void Center(const ir::Tensor& codes, const ir::Quant& quant, int32_t* centered);

// A bias as int64 of `channels` elements; 0 where there is none.
std::vector<int64_t> BiasOf(const ir::Tensor* bias, int64_t channels);
// A constant int32 bias, or nothing.
std::span<const int32_t> ConstantBias(const NodeView& view, size_t input = 2);

int8::Activation ActivationOf(const ir::Type& type);
// `zero_points` must outlive the result.
int8::Weights WeightsOf(const ir::Type& type, const ir::Tensor& codes);
// To codes of the node's result.
int8::Finish FinishOf(const ir::Type& type, std::span<const float> multipliers);

// Writes one code of a tensor of up to 32 bits.
void StoreCode(ir::Tensor& tensor, int64_t i, int32_t code);

}  // namespace octavo::runtime

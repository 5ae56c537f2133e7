// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit operand that kernels compute by lookup tables.
#pragma once

#include <array>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether the op is pointwise, its operand and result are 8-bit per-tensor quantized values, and
// all other inputs are constant.
bool IsTabled(const NodeView& view);
// table[byte] for every byte that a quantized operand may contain.
Result<std::array<uint8_t, 256>> TableOf(const NodeView& view, ThreadPool& pool);
// The op's float results where input 0 has the real values `real`.
Result<ir::Tensor> ValuesAt(const NodeView& view, const ir::Tensor& real, ThreadPool& pool);

}  // namespace octavo::runtime

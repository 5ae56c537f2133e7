// SPDX-License-Identifier: Apache-2.0
// Quantization parameters in the form that the loops of simd/ take.
#pragma once

#include <array>

#include "core/ir/type.h"
#include "core/runtime/simd/kernels.h"

namespace octavo::runtime {

// For a per-tensor 8-bit type.
inline simd::Quant RowCodes(const ir::Type& type) {
  const bool is_signed = type.dtype == ir::DType::kI8;
  return {.scale = type.quant->scale(),
          .zero_point = type.quant->zero_point() + (is_signed ? 128 : 0),
          .flip = static_cast<uint8_t>(is_signed ? 0x80 : 0)};
}

// The real value of each stored byte.
using Reals = std::array<double, 256>;

inline Reals RealsOf(const ir::Type& type) {
  const simd::Quant codes = RowCodes(type);
  Reals reals = {};
  for (int i = 0; i < 256; ++i) {
    const int32_t steps = (i ^ codes.flip) - codes.zero_point;
    reals[i] = double{static_cast<float>(steps) * codes.scale};
  }
  return reals;
}

// From this length on it is cheaper to divide all 256 values and look up a row's elements than to
// divide its elements.
inline constexpr int64_t kShortRow = 192;

// Grain size: minimum elements per task.
inline constexpr int64_t kRowGrain = 16 << 10;

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// Quantization parameters in the form that the loops of simd/ use.
#pragma once

#include <array>

#include "core/ir/type.h"
#include "core/runtime/simd/kernels.h"

namespace octavo::runtime {

// The quantization parameters of a per-tensor 8-bit type.
inline simd::Quant SimdQuant(const ir::Type& type) {
  const bool is_signed = type.dtype == ir::DType::kI8;
  return {.scale = type.quant->scale(),
          .zero_point = type.quant->zero_point() + (is_signed ? 128 : 0),
          .flip = static_cast<uint8_t>(is_signed ? 0x80 : 0)};
}

// The real value of each stored byte.
using RealTable = std::array<double, 256>;

inline RealTable RealTableOf(const ir::Type& type) {
  const simd::Quant quant = SimdQuant(type);
  RealTable real = {};
  for (int i = 0; i < 256; ++i) {
    const int32_t steps = (i ^ quant.flip) - quant.zero_point;
    real[i] = double{static_cast<float>(steps) * quant.scale};
  }
  return real;
}

// For rows longer than this, dividing all 256 values and looking up the row's elements is cheaper
// than dividing the elements.
inline constexpr int64_t kShortRow = 192;

// Grain size: minimum elements per task.
inline constexpr int64_t kRowGrain = 16 << 10;

}  // namespace octavo::runtime

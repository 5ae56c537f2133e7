// Bridges from types of the graph to the loops of rows/.
#pragma once

#include <array>

#include "core/ir/type.h"
#include "core/runtime/rows/rows.h"

namespace octavo::runtime {

// Of a per-tensor 8-bit type.
inline rows::Codes RowCodes(const ir::Type& type) {
  const bool is_signed = type.dtype == ir::DType::kI8;
  return {.scale = type.quant->scale(),
          .zero_point = type.quant->zero_point() + (is_signed ? 128 : 0),
          .flip = static_cast<uint8_t>(is_signed ? 0x80 : 0)};
}

// The real of each stored byte.
using Reals = std::array<double, 256>;

inline Reals RealsOf(const ir::Type& type) {
  const rows::Codes codes = RowCodes(type);
  Reals reals = {};
  for (int i = 0; i < 256; ++i) {
    const int32_t steps = (i ^ codes.flip) - codes.zero_point;
    reals[i] = double{static_cast<float>(steps) * codes.scale};
  }
  return reals;
}

// Elements of a row of which it is cheaper to divide all 256 codes and look them up than its own.
inline constexpr int64_t kShortRow = 192;

// Elements that repay handing a part to another thread.
inline constexpr int64_t kRowGrain = 16 << 10;

}  // namespace octavo::runtime

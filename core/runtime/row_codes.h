// Bridges from types of the graph to the loops of rows/.
#pragma once

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

// Elements that repay handing a part to another thread.
inline constexpr int64_t kRowGrain = 16 << 10;

}  // namespace octavo::runtime

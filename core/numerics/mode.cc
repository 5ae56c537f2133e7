// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/mode.h"

#include <algorithm>
#include <cmath>

namespace octavo::numerics {
namespace {

template <class Row>
const Row* FindRow(std::span<const Row> rows, std::string_view op) {
  const auto at = std::ranges::find(rows, op, &Row::op);
  return at == rows.end() ? nullptr : &*at;
}

}  // namespace

int32_t QuantizeOne(QuantizeFunction quantize, float x, ChannelQuant to, ir::IntegerRange range) {
  const double value = quantize(x, to);
  if (std::isnan(value)) return to.zero_point;
  return static_cast<int32_t>(
      std::clamp(value, static_cast<double>(range.min), static_cast<double>(range.max)));
}

RequantizeFormula MakeProduct(const Mode& mode, std::string_view op, const ProductQuant& quant) {
  const ProductRow* row = FindRow(mode.products, op);
  return row == nullptr ? nullptr : row->make(quant);
}

BinaryFormula MakeBinary(const Mode& mode, std::string_view op, const BinaryTypes& types) {
  const BinaryRow* row = FindRow(mode.binary, op);
  return row == nullptr ? nullptr : row->make(types);
}

UnaryFormula MakeUnary(const Mode& mode, std::string_view op, const ir::Type& x, const ir::Type& y,
                       const ir::AttrMap& attributes) {
  const UnaryRow* row = FindRow(mode.unary, op);
  return row == nullptr ? nullptr : row->make(x, y, attributes);
}

bool DefinesStorage(const Mode& mode, const ir::Type& type) {
  if (!type.quantized()) return false;
  if (ir::SizeOf(type.dtype) == 1) return true;
  return mode.requantize_int16 != nullptr && type.dtype == ir::DType::kI16 &&
         type.quant->per_tensor() && type.quant->zero_point() == 0;
}

bool DefinesScales(const Mode& mode, const ir::Quant& quant) {
  return mode.defines_scale == nullptr || std::ranges::all_of(quant.scales, mode.defines_scale);
}

}  // namespace octavo::numerics

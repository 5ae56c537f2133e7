// SPDX-License-Identifier: Apache-2.0
#include "core/ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace octavo::ir {

int64_t NumElements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

std::string ToString(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

Shape StridesOf(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool Quant::Uniform() const {
  for (size_t c = 1; c < scales.size(); ++c) {
    if (scales[c] != scales[0] || zero_points[c] != zero_points[0]) return false;
  }
  return true;
}

int64_t Type::bytes() const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements(), static_cast<int64_t>(SizeOf(dtype)), &bytes)) {
    return std::numeric_limits<int64_t>::max();
  }
  return bytes;
}

Type Type::Expressed() const {
  if (!quantized()) return {dtype, shape, {}, {}};
  return {DType::kF32, shape, {}, {}};
}

std::string ToString(const Type& type) {
  std::string text;
  for (const int64_t extent : type.shape) text += fmt::format("{}x", extent);
  text += Name(type.dtype);
  if (!type.quant) return text;
  const Quant& quant = *type.quant;
  if (quant.axis) {
    if (quant.blocked()) text += fmt::format(", block={}", quant.block);
    return fmt::format("{}, axis={}, {} scales", text, *quant.axis, quant.scales.size());
  }
  return fmt::format("{}, scale={}, zp={}", text, quant.scales[0], quant.zero_points[0]);
}

}  // namespace octavo::ir

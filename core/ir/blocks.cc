// SPDX-License-Identifier: Apache-2.0
#include "core/ir/blocks.h"

namespace octavo::ir {

Blocks Blocks::Of(const Shape& shape, int axis, int64_t block) {
  const auto at = shape.begin() + axis;
  return {.outer = NumElements({shape.begin(), at}),
          .extent = *at,
          .inner = NumElements({at + 1, shape.end()}),
          .size = block};
}

int64_t ScaleOf(const Type& type, int64_t element) {
  if (!type.quant || type.quant->per_tensor()) return 0;
  const Blocks blocks = Blocks::Of(*type.quant, type.shape);
  return type.blocked() ? blocks.ScaleOf(element) : element / blocks.inner % blocks.extent;
}

Shape ScaleShape(const Quant& quant, const Shape& shape) {
  if (quant.per_tensor()) return {};
  if (!quant.blocked()) return {static_cast<int64_t>(quant.scales.size())};
  Shape scales = shape;
  scales[static_cast<size_t>(*quant.axis)] = Blocks::Of(quant, shape).count();
  return scales;
}

}  // namespace octavo::ir

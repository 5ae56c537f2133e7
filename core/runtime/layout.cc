// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/layout.h"

#include <algorithm>

#include "core/ops/shared/strided_copy.h"
#include "core/runtime/int8/layout.h"

namespace octavo::runtime {

Layout CanonicalLayout(Layout layout, const ir::Shape& shape) {
  if (shape.size() < 3 || shape[1] == 1) return Layout::kPlain;
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels *= shape[i];
  return pixels == 1 ? Layout::kPlain : layout;
}

ir::Shape StoredShape(Layout layout, const ir::Shape& shape) {
  if (layout == Layout::kPlain || shape.size() < 3) return shape;
  ir::Shape stored = shape;
  stored.erase(stored.begin() + 1);
  stored.push_back(shape[1]);
  return stored;
}

int StoredAxis(Layout layout, const ir::Shape& shape, int axis) {
  if (layout == Layout::kPlain || shape.size() < 3 || axis == 0) return axis;
  return axis == 1 ? static_cast<int>(shape.size()) - 1 : axis - 1;
}

StoredPlaces::StoredPlaces(Layout layout, const ir::Shape& shape)
    : last_(CanonicalLayout(layout, shape) == Layout::kChannelsLast),
      channels_(shape.size() > 1 ? shape[1] : 1),
      pixels_(shape.size() > 1 ? ir::NumElements(shape) / std::max<int64_t>(1, shape[0] * channels_)
                               : 1) {}

void ConvertLayout(const ir::Tensor& from, Layout from_layout, ir::Tensor& to, ThreadPool& pool) {
  const ir::Shape& shape = from.shape();
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels *= shape[i];
  const bool plain = from_layout == Layout::kPlain;
  const int size = ir::SizeOf(from.dtype());
  if (size == 1) {
    const int8::ImageShape image{shape[0], shape[1], pixels};
    (plain ? &int8::NchwToNhwc : &int8::NhwcToNchw)(image, from.raw(), to.mutable_raw(), pool);
    return;
  }
  const int64_t rows = plain ? shape[1] : pixels, columns = plain ? pixels : shape[1];
  ops::Gather({shape[0], columns, rows}, {rows * columns, 1, columns}, size, from.raw(),
              to.mutable_raw(), &pool);
}

}  // namespace octavo::runtime

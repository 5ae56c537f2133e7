// SPDX-License-Identifier: Apache-2.0
// The memory order of an image's elements: the order of the graph's shape, or channels-last.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::runtime {

enum class Layout : uint8_t { kPlain, kChannelsLast };

// Shapes with equal bytes in both layouts (fewer than 3 axes, one channel, one pixel) are always
// plain.
Layout CanonicalLayout(Layout layout, const ir::Shape& shape);
// The shape in memory order: N, H, W, C for channels-last.
ir::Shape StoredShape(Layout layout, const ir::Shape& shape);
// The position of axis `axis` of the graph's shape in memory order.
int StoredAxis(Layout layout, const ir::Shape& shape, int axis);

// Maps an element's index in plain order to its index in memory.
class StoredPlaces {
 public:
  StoredPlaces(Layout layout, const ir::Shape& shape);
  int64_t Of(int64_t plain) const {
    if (!last_) return plain;
    const int64_t image = plain / (channels_ * pixels_), rest = plain % (channels_ * pixels_);
    return (image * pixels_ + rest % pixels_) * channels_ + rest / pixels_;
  }

 private:
  bool last_;
  int64_t channels_, pixels_;
};

// Tensors keep the graph's shape in either layout; `to` has the shape of `from`.
void ConvertLayout(const ir::Tensor& from, Layout from_layout, ir::Tensor& to, ThreadPool& pool);

}  // namespace octavo::runtime

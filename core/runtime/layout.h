// How the elements of an image lie in memory: as the graph's shape says, or with channels last.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::runtime {

enum class Layout : uint8_t { kPlain, kChannelsLast };

// Shapes whose bytes are the same in both layouts (fewer than 3 axes, one channel, one pixel) are
// always plain.
Layout CanonicalLayout(Layout layout, const ir::Shape& shape);
// The shape in the order of memory: N, H, W, C for channels last.
ir::Shape StoredShape(Layout layout, const ir::Shape& shape);
// Where axis `axis` of the graph's shape stands in that order.
int StoredAxis(Layout layout, const ir::Shape& shape, int axis);

// The place in memory of an element that is numbered in plain order.
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

// Tensors keep the graph's shape in either layout; `to` has that of `from`.
void ConvertLayout(const ir::Tensor& from, Layout from_layout, ir::Tensor& to, ThreadPool& pool);

}  // namespace octavo::runtime

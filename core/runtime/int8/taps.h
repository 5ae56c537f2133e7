// Where the bytes under a dense convolution's kernel lie.  The image is read in place where that
// is possible; otherwise the rows of pixels that a part needs are copied with their padding, so
// that the taps of every output pixel lie at the same distances from its first one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reference/kernels/conv.h"
#include "core/runtime/int8/tiles.h"

namespace octavo::runtime::int8::internal {

class Taps {
 public:
  Taps() = default;
  Taps(const reference::ConvShape& shape, const Activation& input);

  // Adjacent bytes that are multiplied together: a whole row of the kernel where its channels and
  // columns are adjacent, or one tap.
  int64_t segments() const { return static_cast<int64_t>(offsets_.size()); }
  int64_t segment_bytes() const { return segment_; }
  // Of each segment from an output pixel's first one.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Points at the first segment of each output pixel of [begin, end) of one image.  `bytes` is
  // grown and written where the image is not read in place.
  void Find(const uint8_t* image, int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
            const uint8_t** pointers) const;

 private:
  // Rows of the image [first, last), which may lie outside of it, with padding.
  void CopyRows(const uint8_t* image, int64_t first, int64_t last, uint8_t* to) const;

  const Tiles* tiles_ = nullptr;
  reference::ConvShape shape_ = {};
  int64_t out_width_ = 0;
  uint8_t zero_ = 0, flip_ = 0;
  bool copies_ = false;
  int64_t pitch_ = 0;  // bytes between rows as they are read
  int64_t segment_ = 0;
  std::vector<int64_t> offsets_ = {};
};

}  // namespace octavo::runtime::int8::internal

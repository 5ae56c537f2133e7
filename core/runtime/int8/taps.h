// SPDX-License-Identifier: Apache-2.0
// The bytes under a dense convolution's kernel, as runs of K.  They are read from the image in
// place if possible; otherwise the rows that a task needs are copied with their padding.  In both
// cases, the runs of every output pixel have the same offsets from its first run.
#pragma once

#include <cstdint>
#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/runtime/int8/tiles.h"

namespace octavo::runtime::int8::internal {

class Taps {
 public:
  Taps() = default;
  Taps(const float_exec::ConvShape& shape, const Activation& input);

  // A K run is contiguous in the image: a whole kernel row if channels and columns are adjacent,
  // else one tap.
  int64_t k_runs() const { return static_cast<int64_t>(offsets_.size()); }
  int64_t k_run_bytes() const { return k_run_; }
  // The offset of each K run from the first run of the output pixel.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Sets pointers to the first K run of each output pixel in [begin, end) of one image.  Resizes
  // and writes `bytes` unless the image is read in place.
  void Find(const uint8_t* image, int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
            const uint8_t** pointers) const;

 private:
  // Copies image rows [first, last) with padding; rows may lie outside the image.
  void CopyRows(const uint8_t* image, int64_t first, int64_t last, uint8_t* to) const;

  const Tiles* tiles_ = nullptr;
  float_exec::ConvShape shape_ = {};
  int64_t out_width_ = 0;
  uint8_t zero_ = 0, flip_ = 0;
  bool copies_ = false;
  int64_t pitch_ = 0;  // bytes between rows as they are read
  int64_t k_run_ = 0;
  std::vector<int64_t> offsets_ = {};
};

}  // namespace octavo::runtime::int8::internal

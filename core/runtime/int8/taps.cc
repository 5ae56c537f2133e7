// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/taps.h"

#include <cstring>

#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8::internal {
namespace {

using float_exec::ConvShape;

// K runs are read in whole K-blocks.
constexpr int64_t kSlack = 4;

}  // namespace

Taps::Taps(const float_exec::ConvShape& shape, const Activation& input)
    : tiles_(&CurrentTiles()),
      shape_(shape),
      out_width_(float_exec::ConvOutWidth(shape)),
      zero_(static_cast<uint8_t>(ZeroAsU8(input))),
      flip_(FlipOf(input.storage)) {
  const int64_t channels = shape.in_channels;
  const bool whole_rows = shape.groups == 1 && shape.dilation_width == 1;
  k_run_ = whole_rows ? shape.kernel_width * channels : channels / shape.groups;
  const bool pads =
      shape.pad_top > 0 || shape.pad_left > 0 || shape.pad_bottom > 0 || shape.pad_right > 0;
  copies_ = pads || flip_ != 0 || k_run_ % 4 != 0;
  pitch_ = (shape.in_width + (copies_ ? shape.pad_left + shape.pad_right : 0)) * channels;
  for (int64_t i = 0; i < shape.kernel_height; ++i) {
    for (int64_t j = 0; j < (whole_rows ? 1 : shape.kernel_width); ++j) {
      offsets_.push_back(i * shape.dilation_height * pitch_ + j * shape.dilation_width * channels);
    }
  }
}

void Taps::CopyRows(const uint8_t* image, int64_t first, int64_t last, uint8_t* to) const {
  const ConvShape& s = shape_;
  const int64_t left = s.pad_left * s.in_channels, middle = s.in_width * s.in_channels;
  for (int64_t row = first; row < last; ++row, to += pitch_) {
    if (row < 0 || row >= s.in_height) {
      std::memset(to, zero_, static_cast<size_t>(pitch_));
      continue;
    }
    std::memset(to, zero_, static_cast<size_t>(left));
    const uint8_t* from = image + row * middle;
    if (flip_ == 0) {
      std::memcpy(to + left, from, static_cast<size_t>(middle));
    } else {
      tiles_->copy_flipped(from, middle, flip_, to + left);
    }
    std::memset(to + left + middle, zero_, static_cast<size_t>(pitch_ - left - middle));
  }
}

void Taps::Find(const uint8_t* image, int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
                const uint8_t** pointers) const {
  const ConvShape& s = shape_;
  int64_t row = begin / out_width_, column = begin % out_width_;
  const uint8_t* start = image;
  int64_t top = row * s.stride_height;
  if (copies_) {
    const int64_t first = top - s.pad_top;
    const int64_t last = (end - 1) / out_width_ * s.stride_height - s.pad_top +
                         (s.kernel_height - 1) * s.dilation_height + 1;
    Grow(bytes, (last - first) * pitch_ + kSlack);
    CopyRows(image, first, last, bytes.data());
    start = bytes.data();
    top = 0;
  }
  const int64_t step = s.stride_width * s.in_channels;
  const uint8_t* pixel = start + top * pitch_ + column * step;
  for (int64_t index = begin; index < end; ++index, pixel += step) {
    *pointers++ = pixel;
    if (++column == out_width_) {
      column = 0;
      top += s.stride_height;
      pixel = start + top * pitch_ - step;
    }
  }
}

}  // namespace octavo::runtime::int8::internal

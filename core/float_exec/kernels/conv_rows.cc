// SPDX-License-Identifier: Apache-2.0
// Convolutions with few channels per group.  Vectors run over pixels, which are read in place.
#include <algorithm>

#include "core/float_exec/kernels/conv_driver.h"
#include "core/float_exec/kernels/narrow.h"

namespace octavo::float_exec {

using internal::Field;
using internal::Scratch;

namespace {

// A larger plane of a depthwise convolution is laid out in bands of rows, so that the loops read
// each band from the L1 cache after it is written.
constexpr int64_t kPlaneFloats = 8192;
constexpr int64_t kBandFloats = 2048;

// The field of one band: as many output rows as are laid out at a time.
Field BandField(const Field& plane) {
  if (plane.plane() <= kPlaneFloats) return plane;
  const int64_t reach = plane.rows - (plane.out_height - 1) * plane.step_height;
  const int64_t rows = kBandFloats / (plane.phases * plane.width) - reach;
  Field band = plane;
  band.out_height = std::clamp<int64_t>(rows / plane.step_height + 1, 1, plane.out_height);
  band.rows = (band.out_height - 1) * plane.step_height + reach;
  return band;
}

}  // namespace

void ConvDriver::RunDepthwise(const PackedConv& conv, const float* x, const float* bias, float* y,
                              ThreadPool& pool) {
  const ConvShape& s = conv.shape_;
  if (internal::IsNarrow(*conv.tiles_, s)) {
    return internal::RunNarrow(*conv.tiles_, s, conv.weights_.get(), x, bias, y, pool);
  }
  const Field field = BandField(FieldOf(conv));
  const std::vector<int64_t> offsets = TapOffsets(conv, field);
  const int64_t taps = Taps(s), multiple = s.out_channels / s.groups;
  const bool square = s.kernel_height == s.kernel_width && s.dilation_height == 1;
  std::vector<internal::Band> bands;
  for (int64_t row = 0; row < conv.out_height_; row += field.out_height) {
    bands.push_back(internal::BandOf(field, PlacementOf(conv), row));
  }
  if (bands.size() == 1) bands[0].border = internal::Border::kCleared;
  pool.For(s.batch * s.in_channels, 1, [&](int64_t begin, int64_t end) {
    const Scratch memory(field.plane() + internal::kFieldSlack);
    std::fill_n(memory.get(), field.plane() + internal::kFieldSlack, 0.0f);
    for (int64_t i = begin; i < end; ++i) {
      for (const internal::Band& band : bands) {
        internal::FillPlane(*conv.tiles_, field, band.placement, band.interior,
                            x + i * s.in_height * s.in_width, band.border, memory.get());
        for (int64_t o = i * multiple; o < (i + 1) * multiple; ++o) {
          const int64_t channel = o % s.out_channels;
          conv.tiles_->row[0]({.x = memory.get(),
                               .x_stride = field.Pixel(1, 0),
                               .offsets = offsets.data(),
                               .weights = conv.weights_.get() + channel * taps,
                               .taps = taps,
                               .pitch = square ? field.phases * field.width : 0,
                               .bias = bias == nullptr ? nullptr : bias + channel,
                               .y = y + (o * conv.out_height_ + band.row) * conv.out_width_,
                               .y_stride = field.out_width,
                               .width = field.out_width,
                               .rows = std::min(field.out_height, conv.out_height_ - band.row)});
        }
      }
    }
  });
}

void ConvDriver::RunFewEach(const PackedConv& conv, const float* x, const float* bias, float* y,
                            ThreadPool& pool) {
  const ConvShape& s = conv.shape_;
  const Field field = FieldOf(conv);
  const internal::Placement placement = PlacementOf(conv);
  const internal::Interior interior = internal::InteriorOf(field, placement);
  const std::vector<int64_t> offsets = TapOffsets(conv, field);
  const int64_t taps = Taps(s), outs = s.out_channels / s.groups, ins = s.in_channels / s.groups;
  const int64_t pixels = field.out_height * field.out_width;
  pool.For(s.batch * s.groups, 1, [&](int64_t begin, int64_t end) {
    const int64_t size = ins * field.plane() + internal::kFieldSlack;
    const Scratch planes(size);
    std::fill_n(planes.get(), size, 0.0f);
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t c = 0; c < ins; ++c) {
        internal::FillPlane(*conv.tiles_, field, placement, interior,
                            x + (i * ins + c) * s.in_height * s.in_width,
                            internal::Border::kCleared, planes.get() + c * field.plane());
      }
      for (int64_t o = 0; o < outs; o += internal::kMaxRowChannels) {
        const int64_t channels = std::min<int64_t>(internal::kMaxRowChannels, outs - o);
        const int64_t channel = i % s.groups * outs + o;
        conv.tiles_->row[channels - 1]({.x = planes.get(),
                                        .x_stride = field.Pixel(1, 0),
                                        .offsets = offsets.data(),
                                        .weights = conv.weights_.get() + channel * taps,
                                        .taps = taps,
                                        .bias = bias == nullptr ? nullptr : bias + channel,
                                        .y = y + (i * outs + o) * pixels,
                                        .y_stride = field.out_width,
                                        .y_channel_stride = pixels,
                                        .width = field.out_width,
                                        .rows = field.out_height});
      }
    }
  });
}

}  // namespace octavo::float_exec

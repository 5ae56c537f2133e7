// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/conv.h"

#include <algorithm>

#include "core/float_exec/kernels/conv_driver.h"
#include "core/float_exec/kernels/direct.h"
#include "core/float_exec/kernels/phases.h"

namespace octavo::float_exec {
namespace {

// Limits of kFewEach: at most kFewChannels output channels of a group share the input that is read,
// and there are at least kFewGroups groups to distribute over the threads.
constexpr int64_t kFewChannels = 8;
constexpr int64_t kFewGroups = 8;

// Pointwise convolutions with more pixels are products with vectors of pixels.
constexpr int64_t kDirectPixels = 512;

// Aligns rows to cache lines if that widens them by at most a third.  The rows of a 1x1 kernel stay
// adjacent.
int64_t LineWidth(int64_t width, const ConvShape& s) {
  const int64_t lines = internal::RoundUp(width, 16);
  const bool widens = s.kernel_height > 1 || s.kernel_width > 1;
  return widens && 3 * lines <= 4 * width ? lines : width;
}

int64_t OutSize(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  const int64_t room = in + pads - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

using internal::Field;
using internal::Scratch;

int64_t ConvOutHeight(const ConvShape& s) {
  return OutSize(s.in_height, s.pad_top + s.pad_bottom, s.kernel_height, s.dilation_height,
                 s.stride_height);
}
int64_t ConvOutWidth(const ConvShape& s) {
  return OutSize(s.in_width, s.pad_left + s.pad_right, s.kernel_width, s.dilation_width,
                 s.stride_width);
}

PackedConv ConvDriver::Begin(const ConvShape& shape) {
  PackedConv conv;
  conv.shape_ = shape;
  conv.out_height_ = ConvOutHeight(shape);
  conv.out_width_ = ConvOutWidth(shape);
  conv.tiles_ = &internal::CurrentTiles();
  conv.path_ = PathOf(conv);
  return conv;
}

PackedConv::Path ConvDriver::PathOf(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  if (s.groups > 1 && s.in_channels == s.groups) return PackedConv::Path::kDepthwise;
  // The last vector of a row should be more full than empty.
  const int64_t lanes = conv.tiles_->lanes;
  const int64_t vectors = (conv.out_width_ + lanes - 1) / lanes;
  const bool few = s.groups >= kFewGroups && s.out_channels / s.groups <= kFewChannels;
  if (few && !IsProduct(conv) && 3 * conv.out_width_ >= 2 * vectors * lanes) {
    return PackedConv::Path::kFewEach;
  }
  if (IsDirect(conv)) return PackedConv::Path::kDirect;
  return PackedConv::Path::kDense;
}

bool ConvDriver::ReadsInPlace(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1;
}

bool ConvDriver::IsDirect(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  const int64_t outs = s.out_channels / s.groups;
  if (ReadsInPlace(s) && conv.out_height_ * conv.out_width_ > kDirectPixels) return false;
  return outs * 4 >= internal::RoundUp(outs, conv.tiles_->lanes) * 3;
}

int64_t ConvDriver::Taps(const ConvShape& s) {
  return s.in_channels / s.groups * s.kernel_height * s.kernel_width;
}

void ConvDriver::SetWeights(PackedConv& conv, const float* weights) {
  const ConvShape& s = conv.shape_;
  const int64_t taps = Taps(s), rows = s.out_channels / s.groups;
  if (conv.path_ == PackedConv::Path::kDirect) {
    const int64_t size = internal::PackedChannelsSize(*conv.tiles_, rows, taps);
    auto packed = internal::Memory(s.groups * size);
    for (int64_t g = 0; g < s.groups; ++g) {
      internal::PackChannels(*conv.tiles_, weights + g * rows * taps, rows, taps,
                             packed.get() + g * size);
    }
    conv.weights_ = std::move(packed);
    return;
  }
  if (conv.path_ != PackedConv::Path::kDense) {
    auto copy = internal::Memory(s.out_channels * taps);
    std::copy_n(weights, s.out_channels * taps, copy.get());
    conv.weights_ = std::move(copy);
    return;
  }
  const int64_t size = internal::PackedRowsSize(*conv.tiles_, rows, taps);
  auto packed = internal::Memory(s.groups * size);
  const int64_t panels = (rows + conv.tiles_->rows - 1) / conv.tiles_->rows;
  for (int64_t g = 0; g < s.groups; ++g) {
    internal::PackRows(*conv.tiles_, {weights + g * rows * taps, rows, taps, taps, 1}, {0, panels},
                       packed.get() + g * size);
  }
  conv.weights_ = std::move(packed);
}

bool ConvDriver::IsProduct(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 &&
         s.stride_width == 1 && s.pad_top == 0 && s.pad_left == 0 &&
         conv.out_height_ == s.in_height && conv.out_width_ == s.in_width;
}

Field ConvDriver::FieldOf(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  const int64_t step_height = s.kernel_height == 1 ? 1 : s.stride_height;
  const int64_t phases = s.kernel_width == 1 ? 1 : s.stride_width;
  return {
      .rows = (conv.out_height_ - 1) * step_height + (s.kernel_height - 1) * s.dilation_height + 1,
      .phases = phases,
      .width = LineWidth(conv.out_width_ + (s.kernel_width - 1) * s.dilation_width / phases, s),
      .step_height = step_height,
      .out_height = conv.out_height_,
      .out_width = conv.out_width_};
}

internal::Placement ConvDriver::PlacementOf(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  return {.in_height = s.in_height,
          .in_width = s.in_width,
          .top = s.pad_top,
          .left = s.pad_left,
          .skip_height = s.kernel_height == 1 ? s.stride_height : 1,
          .skip_width = s.kernel_width == 1 ? s.stride_width : 1};
}

std::vector<int64_t> ConvDriver::TapOffsets(const PackedConv& conv, const Field& field) {
  const ConvShape& s = conv.shape_;
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(Taps(s)));
  for (int64_t c = 0; c < s.in_channels / s.groups; ++c) {
    for (int64_t i = 0; i < s.kernel_height; ++i) {
      for (int64_t j = 0; j < s.kernel_width; ++j) {
        offsets.push_back(c * field.plane() +
                          field.Tap(i * s.dilation_height, j * s.dilation_width));
      }
    }
  }
  return offsets;
}

Scratch ConvDriver::MakeField(const PackedConv& conv, const Field& field, const float* x,
                              ThreadPool& pool) {
  const ConvShape& s = conv.shape_;
  const int64_t planes = s.batch * s.in_channels;
  Scratch data(planes * field.plane() + internal::kFieldSlack);
  std::fill_n(data.get() + planes * field.plane(), internal::kFieldSlack, 0.0f);
  const internal::Placement placement = PlacementOf(conv);
  const internal::Interior interior = internal::InteriorOf(field, placement);
  pool.For(planes, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      internal::FillPlane(*conv.tiles_, field, placement, interior,
                          x + i * s.in_height * s.in_width, internal::Border::kWritten,
                          data.get() + i * field.plane());
    }
  });
  return data;
}

void ConvDriver::Run(const PackedConv& conv, const float* x, const float* bias, float* y,
                     ThreadPool& pool) {
  if (conv.phases_ != nullptr) return internal::RunPhases(conv, x, bias, y, pool);
  switch (conv.path_) {
    case PackedConv::Path::kDepthwise:
      return RunDepthwise(conv, x, bias, y, pool);
    case PackedConv::Path::kFewEach:
      return RunFewEach(conv, x, bias, y, pool);
    case PackedConv::Path::kDirect:
      return RunDirect(conv, x, bias, y, pool);
    case PackedConv::Path::kDense:
      return RunDense(conv, x, bias, y, pool);
  }
}

PackedConv PackConv2d(const ConvShape& shape, const float* weights) {
  PackedConv conv = ConvDriver::Begin(shape);
  ConvDriver::SetWeights(conv, weights);
  return conv;
}

// A transposed convolution has phases, see conv_transpose.cc.
void Convolve(const PackedConv& conv, const float* x, const float* bias, float* y,
              ThreadPool& pool) {
  if (conv.out_height() <= 0 || conv.out_width() <= 0) return;
  ConvDriver::Run(conv, x, bias, y, pool);
}

void Conv2d(const ConvShape& shape, const float* x, const float* weights, const float* bias,
            float* y, ThreadPool& pool) {
  Convolve(PackConv2d(shape, weights), x, bias, y, pool);
}

}  // namespace octavo::float_exec

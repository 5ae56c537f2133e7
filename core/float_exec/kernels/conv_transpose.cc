// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions without the zeros between input elements.  The outputs whose positions
// have the same remainder modulo the strides are a convolution of the input with every stride-th
// tap.
#include <algorithm>
#include <numeric>

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/gemm.h"
#include "core/float_exec/kernels/phases.h"

namespace octavo::float_exec {
namespace {

int64_t OutSize(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride,
                int64_t extra) {
  return std::max<int64_t>(0, stride * (in - 1) + extra + dilation * (kernel - 1) + 1 - pads);
}

// One axis of one phase.  Its output positions are first, first + stride, ...; its taps are
// last_tap, last_tap - tap_step, ....  For output i they meet input positions i - pad, i - pad +
// dilation, ....
struct PhaseAxis {
  int64_t first = 0, count = 0;
  int64_t last_tap = 0, tap_step = 1, taps = 0;
  int64_t pad = 0, dilation = 1;
};

struct AxisSizes {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, out = 0;
};

PhaseAxis PhaseOf(const AxisSizes& sizes, int64_t first) {
  const int64_t common = std::gcd(sizes.stride, sizes.dilation);
  PhaseAxis axis{.first = first,
                 .count = (sizes.out - first + sizes.stride - 1) / sizes.stride,
                 .tap_step = sizes.stride / common,
                 .dilation = sizes.dilation / common};
  // Output position o meets input position (o + pad - k * dilation) / stride at tap k.
  for (int64_t k = 0; k < sizes.kernel; ++k) {
    const int64_t position = first + sizes.pad - k * sizes.dilation;
    if (position % sizes.stride != 0) continue;
    axis.last_tap = k;
    axis.pad = -position / sizes.stride;
    ++axis.taps;
  }
  return axis;
}

}  // namespace

int64_t ConvTransposeOutHeight(const ConvShape& s) {
  return OutSize(s.in_height, s.pad_top + s.pad_bottom, s.kernel_height, s.dilation_height,
                 s.stride_height, s.output_padding_height);
}
int64_t ConvTransposeOutWidth(const ConvShape& s) {
  return OutSize(s.in_width, s.pad_left + s.pad_right, s.kernel_width, s.dilation_width,
                 s.stride_width, s.output_padding_width);
}

struct PackedConv::Phase {
  PhaseAxis row = {}, column = {};
  PackedConv conv = {};  // if the phase has taps

  bool empty() const { return row.taps == 0 || column.taps == 0; }
};

struct ConvTransposeDriver {
  using Phase = PackedConv::Phase;

  // The taps of a phase as weights of a convolution, [out_channels, in_channels / groups, taps].
  static std::vector<float> Weights(const ConvShape& s, const Phase& phase, const float* weights) {
    const int64_t ins = s.in_channels / s.groups, outs = s.out_channels / s.groups;
    std::vector<float> picked;
    picked.reserve(static_cast<size_t>(s.out_channels * ins * phase.row.taps * phase.column.taps));
    for (int64_t o = 0; o < s.out_channels; ++o) {
      for (int64_t c = 0; c < ins; ++c) {
        const float* from =
            weights + ((o / outs * ins + c) * outs + o % outs) * s.kernel_height * s.kernel_width;
        for (int64_t i = 0; i < phase.row.taps; ++i) {
          const int64_t row = phase.row.last_tap - i * phase.row.tap_step;
          for (int64_t j = 0; j < phase.column.taps; ++j) {
            const int64_t column = phase.column.last_tap - j * phase.column.tap_step;
            picked.push_back(from[row * s.kernel_width + column]);
          }
        }
      }
    }
    return picked;
  }

  // The convolution that computes a phase.  Its padding at the end yields the phase's size.
  static ConvShape ShapeOf(const ConvShape& s, const Phase& phase) {
    const auto after = [](const PhaseAxis& axis, int64_t in) {
      return axis.count - in - axis.pad + axis.dilation * (axis.taps - 1);
    };
    return {.batch = s.batch,
            .in_channels = s.in_channels,
            .out_channels = s.out_channels,
            .groups = s.groups,
            .in_height = s.in_height,
            .in_width = s.in_width,
            .kernel_height = phase.row.taps,
            .kernel_width = phase.column.taps,
            .dilation_height = phase.row.dilation,
            .dilation_width = phase.column.dilation,
            .pad_top = phase.row.pad,
            .pad_left = phase.column.pad,
            .pad_bottom = after(phase.row, s.in_height),
            .pad_right = after(phase.column, s.in_width)};
  }

  static PackedConv Pack(const ConvShape& s, const float* weights) {
    PackedConv conv;
    conv.shape_ = s;
    conv.out_height_ = ConvTransposeOutHeight(s);
    conv.out_width_ = ConvTransposeOutWidth(s);
    std::vector<Phase> phases;
    for (int64_t row = 0; row < std::min(s.stride_height, conv.out_height_); ++row) {
      for (int64_t column = 0; column < std::min(s.stride_width, conv.out_width_); ++column) {
        Phase phase{.row = PhaseOf({s.kernel_height, s.stride_height, s.dilation_height, s.pad_top,
                                    conv.out_height_},
                                   row),
                    .column = PhaseOf({s.kernel_width, s.stride_width, s.dilation_width, s.pad_left,
                                       conv.out_width_},
                                      column)};
        if (!phase.empty()) {
          phase.conv = PackConv2d(ShapeOf(s, phase), Weights(s, phase, weights).data());
        }
        phases.push_back(std::move(phase));
      }
    }
    conv.phases_ = std::make_shared<const std::vector<Phase>>(std::move(phases));
    return conv;
  }

  // Scatters the results of a phase, [batch * out_channels][rows][columns], to their positions in
  // y.
  static void Scatter(const PackedConv& conv, const Phase& phase, const float* from, float* y,
                      ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const int64_t rows = phase.row.count, columns = phase.column.count, step = s.stride_width;
    const int64_t planes = s.batch * s.out_channels;
    pool.For(planes, std::max<int64_t>(1, 16384 / (rows * columns)),
             [&](int64_t begin, int64_t end) {
               for (int64_t r = begin * rows; r < end * rows; ++r) {
                 const int64_t row = phase.row.first + r % rows * s.stride_height;
                 float* to =
                     y + (r / rows * conv.out_height_ + row) * conv.out_width_ + phase.column.first;
                 const float* source = from + r * columns;
                 for (int64_t i = 0; i < columns; ++i) to[i * step] = source[i];
               }
             });
  }

  // Computes a phase without taps.
  static void FillWithBias(const PackedConv& conv, int64_t pixels, const float* bias, float* to) {
    const ConvShape& s = conv.shape_;
    for (int64_t plane = 0; plane < s.batch * s.out_channels; ++plane) {
      std::fill_n(to + plane * pixels, pixels,
                  bias == nullptr ? 0.0f : 0.0f + bias[plane % s.out_channels]);
    }
  }

  static void Run(const PackedConv& conv, const float* x, const float* bias, float* y,
                  ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const bool alone = conv.phases_->size() == 1 && s.stride_height == 1 && s.stride_width == 1;
    for (const Phase& phase : *conv.phases_) {
      const int64_t pixels = phase.row.count * phase.column.count;
      const internal::Scratch part(alone ? 0 : s.batch * s.out_channels * pixels);
      float* to = alone ? y : part.get();
      if (phase.empty()) {
        FillWithBias(conv, pixels, bias, to);
      } else {
        Convolve(phase.conv, x, bias, to, pool);
      }
      if (!alone) Scatter(conv, phase, to, y, pool);
    }
  }
};

namespace internal {

void RunPhases(const PackedConv& conv, const float* x, const float* bias, float* y,
               ThreadPool& pool) {
  ConvTransposeDriver::Run(conv, x, bias, y, pool);
}

}  // namespace internal

PackedConv PackConvTranspose2d(const ConvShape& shape, const float* weights) {
  return ConvTransposeDriver::Pack(shape, weights);
}

void ConvTranspose2d(const ConvShape& shape, const float* x, const float* weights,
                     const float* bias, float* y, ThreadPool& pool) {
  Convolve(PackConvTranspose2d(shape, weights), x, bias, y, pool);
}

}  // namespace octavo::float_exec

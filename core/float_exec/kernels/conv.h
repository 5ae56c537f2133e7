// SPDX-License-Identifier: Apache-2.0
// Convolutions in float32 with fixed bits, layout NCHW (one-dimensional: height 1).  Every output
// is one chain of fused multiply-adds.  It starts at +0 and runs over the input channels of its
// group in ascending order, then kernel rows, then kernel columns.  A tap in the padding
// contributes with the value +0; this matters only for an infinite or NaN weight and for the sign
// of a zero.  The bias is one addition at the end.  Any number of threads and any instruction set
// give equal bits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/matmul.h"

namespace octavo::float_exec {

// The sizes of a convolution or of a transposed one.  Conv2d divides `in` by the strides;
// ConvTranspose2d multiplies it by them.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  int64_t in_height = 1, in_width = 1;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  // Only for ConvTranspose2d: rows and columns added at the end of the output.
  int64_t output_padding_height = 0, output_padding_width = 0;

  bool operator==(const ConvShape&) const = default;
};

// (in + pads - dilation * (kernel - 1) - 1) / stride + 1, at least 0.
int64_t ConvOutHeight(const ConvShape& shape);
int64_t ConvOutWidth(const ConvShape& shape);
// stride * (in - 1) + output_padding + dilation * (kernel - 1) + 1 - pads.
int64_t ConvTransposeOutHeight(const ConvShape& shape);
int64_t ConvTransposeOutWidth(const ConvShape& shape);

// Weights in the order that the kernels read.  Packed once; owns its data; any number of threads
// may read it.
class PackedConv {
 public:
  const ConvShape& shape() const { return shape_; }
  int64_t out_height() const { return out_height_; }
  int64_t out_width() const { return out_width_; }

 private:
  friend struct ConvDriver;
  friend struct ConvTransposeDriver;
  PackedConv() = default;

  ConvShape shape_;
  int64_t out_height_ = 0, out_width_ = 0;
  const internal::Tiles* tiles_ = nullptr;
  // The loops that compute it, in order: for one input channel per group; for few output channels
  // per group; with vectors of output channels; as a product with vectors of pixels.
  enum class Path { kDepthwise, kFewEach, kDirect, kDense };
  Path path_ = Path::kDense;
  std::shared_ptr<const float[]> weights_;
  // A transposed convolution consists of one convolution per phase.  A phase is the set of output
  // positions with equal remainders modulo the strides.
  struct Phase;
  std::shared_ptr<const std::vector<Phase>> phases_;
};

// `weights` is dense, [out_channels, in_channels / groups, kernel_height, kernel_width].
PackedConv PackConv2d(const ConvShape& shape, const float* weights);
// `weights` is dense, [in_channels, out_channels / groups, kernel_height, kernel_width].  The chain
// of an output runs over the input channels of its group in ascending order, then over kernel rows
// and kernel columns in *descending* order (that is, input positions ascending).  It contains the
// taps that meet an input element or its padding, but not the zeros that the stride inserts between
// elements.
PackedConv PackConvTranspose2d(const ConvShape& shape, const float* weights);

// x [batch, in_channels, in_height, in_width] -> y [batch, out_channels, out_height, out_width].
// Both are dense and must not overlap.  `bias` has out_channels elements or is null.
void Convolve(const PackedConv& conv, const float* x, const float* bias, float* y,
              ThreadPool& pool);

// Packs the weights and convolves.
void Conv2d(const ConvShape& shape, const float* x, const float* weights, const float* bias,
            float* y, ThreadPool& pool);
void ConvTranspose2d(const ConvShape& shape, const float* x, const float* weights,
                     const float* bias, float* y, ThreadPool& pool);

}  // namespace octavo::float_exec

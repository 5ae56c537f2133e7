// SPDX-License-Identifier: Apache-2.0
// The steps of a convolution.  conv.cc selects the path and packs the weights; conv_rows.cc and
// conv_dense.cc run the convolution.
#pragma once

#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/field.h"
#include "core/float_exec/kernels/gemm.h"

namespace octavo::float_exec {

struct ConvDriver {
  static PackedConv Begin(const ConvShape& shape);
  static PackedConv::Path PathOf(const PackedConv& conv);
  // With one tap per channel, the field holds the pixels in the order that the product reads.
  static bool ReadsInPlace(const ConvShape& s);
  // True if the vectors of channels are nearly full.  False for large planes of a pointwise
  // convolution: this path reads a few pixels of each plane at a time, which causes more cache
  // misses than reading whole vectors of pixels.
  static bool IsDirect(const PackedConv& conv);
  static int64_t Taps(const ConvShape& s);
  // `weights` is [out_channels, taps].
  static void SetWeights(PackedConv& conv, const float* weights);
  // A 1x1 kernel with stride 1 and without padding, which reads the input in place.
  static bool IsProduct(const PackedConv& conv);
  static internal::Field FieldOf(const PackedConv& conv);
  static internal::Placement PlacementOf(const PackedConv& conv);
  // Offsets of the taps of one output channel, relative to the first plane of its group.
  static std::vector<int64_t> TapOffsets(const PackedConv& conv, const internal::Field& field);
  static internal::Scratch MakeField(const PackedConv& conv, const internal::Field& field,
                                     const float* x, ThreadPool& pool);
  static void RunDepthwise(const PackedConv& conv, const float* x, const float* bias, float* y,
                           ThreadPool& pool);
  // For groups with few output channels: packs no input and uses each vector of the input for all
  // output channels of the group.
  static void RunFewEach(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool);
  static void RunDirect(const PackedConv& conv, const float* x, const float* bias, float* y,
                        ThreadPool& pool);
  // Returns product i among the products of all groups of all images: `shape` with the product's
  // weights, result and bias.
  static internal::Product ProductOf(const PackedConv& conv, const internal::Product& shape,
                                     int64_t i, const float* bias);
  // A 1x1 kernel with horizontal stride 2 and without padding, which packs its panels from the
  // input.
  static bool IsStrided(const PackedConv& conv);
  static void RunStrided(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool);
  static void RunDense(const PackedConv& conv, const float* x, const float* bias, float* y,
                       ThreadPool& pool);
  static void Run(const PackedConv& conv, const float* x, const float* bias, float* y,
                  ThreadPool& pool);
};

}  // namespace octavo::float_exec

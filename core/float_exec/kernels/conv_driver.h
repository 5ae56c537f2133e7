// SPDX-License-Identifier: Apache-2.0
// The steps of a convolution: conv.cc chooses the path and packs, conv_rows.cc and conv_dense.cc
// run it.
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
  // True where vectors of channels are nearly full.  Not for large planes of a pointwise
  // convolution: this path reads a few pixels of each plane at a time, which misses the caches more
  // often than whole vectors of pixels.
  static bool IsDirect(const PackedConv& conv);
  static int64_t Taps(const ConvShape& s);
  // Packs `weights`, which are [out_channels, taps].
  static void SetWeights(PackedConv& conv, const float* weights);
  // A 1x1 kernel with stride 1 and no padding reads the input in place.
  static bool IsProduct(const PackedConv& conv);
  static internal::Field FieldOf(const PackedConv& conv);
  static internal::Placement PlacementOf(const PackedConv& conv);
  // Offsets of the taps of one output channel from its group's first plane.
  static std::vector<int64_t> TapOffsets(const PackedConv& conv, const internal::Field& field);
  static internal::Scratch MakeField(const PackedConv& conv, const internal::Field& field,
                                     const float* x, ThreadPool& pool);
  static void RunDepthwise(const PackedConv& conv, const float* x, const float* bias, float* y,
                           ThreadPool& pool);
  // Groups of few output channels: no input is packed, and each vector of it is used for all of
  // them.
  static void RunFewEach(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool);
  static void RunDirect(const PackedConv& conv, const float* x, const float* bias, float* y,
                        ThreadPool& pool);
  // Product i of `shape`, which covers all groups of all images: its weights, result and bias.
  static internal::Product ProductOf(const PackedConv& conv, const internal::Product& shape,
                                     int64_t i, const float* bias);
  // A 1x1 kernel that skips every other column, without padding, packs its panels from the input.
  static bool IsStrided(const PackedConv& conv);
  static void RunStrided(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool);
  static void RunDense(const PackedConv& conv, const float* x, const float* bias, float* y,
                       ThreadPool& pool);
  static void Run(const PackedConv& conv, const float* x, const float* bias, float* y,
                  ThreadPool& pool);
};

}  // namespace octavo::float_exec

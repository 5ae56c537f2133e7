// The steps of a convolution: conv.cc chooses the path and packs, conv_rows.cc and conv_dense.cc
// run it.
#pragma once

#include <vector>

#include "core/reference/kernels/conv.h"
#include "core/reference/kernels/field.h"
#include "core/reference/kernels/gemm.h"

namespace octavo::reference {

struct ConvDriver {
  static PackedConv Begin(const ConvShape& shape);
  static PackedConv::Path PathOf(const PackedConv& conv);
  // With one tap a channel, what is laid out holds the pixels as the product reads them.
  static bool ReadsInPlace(const ConvShape& s);
  // Vectors of channels should be filled.  Large planes of a pointwise convolution are read a few
  // pixels of each at a time, which the caches like less than whole vectors of them.
  static bool IsDirect(const PackedConv& conv);
  static int64_t Taps(const ConvShape& s);
  // `weights` as [out_channels, taps].
  static void SetWeights(PackedConv& conv, const float* weights);
  // A 1x1 kernel with stride 1 and no padding reads the input where it lies.
  static bool IsProduct(const PackedConv& conv);
  static internal::Field FieldOf(const PackedConv& conv);
  static internal::Placement PlacementOf(const PackedConv& conv);
  // Where the taps of one output channel lie, relative to its group's first plane.
  static std::vector<int64_t> TapOffsets(const PackedConv& conv, const internal::Field& field);
  static internal::Scratch MakeField(const PackedConv& conv, const internal::Field& field,
                                     const float* x, ThreadPool& pool);
  static void RunDepthwise(const PackedConv& conv, const float* x, const float* bias, float* y,
                           ThreadPool& pool);
  // Groups of few output channels: no input is packed, and each vector of it serves all of them.
  static void RunFewEach(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool);
  static void RunDirect(const PackedConv& conv, const float* x, const float* bias, float* y,
                        ThreadPool& pool);
  // Of `shape`, the product of all groups of all images, the i-th: its weights, result and bias.
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

}  // namespace octavo::reference

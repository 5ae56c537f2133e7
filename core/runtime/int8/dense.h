// SPDX-License-Identifier: Apache-2.0
// Packed dense weights and the loop that multiplies rows of activations by them, shared by Conv and
// Gemm.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/parallel.h"
#include "core/runtime/int8/aligned.h"
#include "core/runtime/int8/tiles.h"

namespace octavo::runtime::int8::internal {

// Byte k of a row is multiplied by weights.data[k * k_stride + n * n_stride].  K consists of
// `k_runs` runs of `k_run` contiguous bytes; packing pads every run to whole K-blocks with weight
// 0.
struct DenseSource {
  Weights weights = {};
  int64_t n = 0;
  int64_t k_runs = 1;
  int64_t k_run = 0;
  int64_t k_stride = 1, n_stride = 0;
  std::span<const int32_t> bias = {};  // empty or n
};

// Immutable once packed; any number of threads may read it.
struct DenseWeights {
  const Tiles* tiles = nullptr;
  int64_t n = 0, k = 0;  // k excludes padding
  int64_t k_runs = 0, k_blocks = 0;
  LineVector<int8_t> narrow = {};  // either this or `wide`
  LineVector<int16_t> wide = {};
  LineVector<int32_t> bias = {};  // includes zero points; padded to whole vectors, like the others
  LineVector<float> multipliers = {};
  std::vector<int32_t> weight_zeros = {};  // empty: all 0
  int32_t input_zero = 0;                  // of the activations as u8
  RequantizeParams requantize = {};

  // Channels per panel; the last panel may have fewer.
  int64_t panel = 0;
};

// `multipliers` may be padded with zeros.
RequantizeParams ParamsOf(const Requantization& requantization, std::span<const float> multipliers);

DenseWeights PackDense(const DenseSource& source, const Activation& input,
                       const Requantization& requantization);

// The zero point of the activation read as u8, and the XOR mask for that reading.
inline int32_t ZeroAsU8(const Activation& input) {
  return input.zero_point + (input.storage == Storage::kS8 ? 128 : 0);
}
// For a sum that `requantization` first converts to 8 bits.
ResidualParams ParamsOf(const ResidualAdd& residual, const Requantization& requantization);
inline uint8_t FlipOf(Storage storage) { return storage == Storage::kS8 ? 0x80 : 0; }
// Resizes to at least `size` bytes.
void Grow(std::vector<uint8_t>& bytes, int64_t size);

// The value of a channel: `otherwise` if `values` is empty; a single value applies to all channels.
template <class T>
T ChannelValue(std::span<const T> values, int64_t channel, T otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

// Sets pointers[i] to the first byte under row begin + i, for the rows [begin, end).  May resize
// and write `bytes`, the thread's scratch buffer.
using RowFinder = std::function<void(int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
                                     const uint8_t** pointers)>;
// Multiplies rows by the weights of one or more groups.  Group g reads a row at offset g *
// group_stride bytes; its results follow those of the previous groups.
struct DenseRun {
  std::span<const DenseWeights> groups = {};
  int64_t group_stride = 0;
  std::span<const int64_t> offsets = {};  // of each K run, from the row's first byte
  int64_t rows = 0;
  int64_t row_bytes = 0;  // added to the cache footprint per row
  RowFinder find = {};
  void* out = nullptr;  // element (row, channel) at row * out_stride + channel
  int64_t out_stride = 0;
  // The residual's addend or null, with addend_stride elements between rows (0: one row for all).
  const uint8_t* addend = nullptr;
  int64_t addend_stride = 0;
  const ResidualParams* residual = nullptr;
  const LookupTable* lookup = nullptr;  // or null; applied to the 8-bit result
};
void RunDense(const DenseRun& run, ThreadPool& pool);

// Sets the rows: dense, of `k` bytes, read in place if possible.  The weights have one K run.
void SetRows(DenseRun& run, const uint8_t* rows, int64_t stride, Storage storage);

}  // namespace octavo::runtime::int8::internal

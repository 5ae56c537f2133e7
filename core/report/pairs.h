// SPDX-License-Identifier: Apache-2.0
// Compares a contiguous range of a tensor with its float baseline by sums and counts.  Sums
// accumulate in eight interleaved lanes that are added in a fixed order: equal bits on every
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::report {

inline constexpr int kStepBins = 17;  // 0..15 steps, then all larger ones
inline constexpr int kHistogramBins = 64;

// Sums over the pairs (baseline, actual) with two finite elements.
struct PairSums {
  double signal = 0;  // baseline^2
  double noise = 0;   // (baseline - actual)^2
  double energy = 0;  // actual^2
  double dot = 0;     // baseline * actual
  double sum_abs = 0, max_abs = 0;
  int64_t count = 0;
  // Of the other pairs: those that are not the same infinity twice, and those whose baseline is
  // finite, so that no number can say how far `actual` is from it.
  int64_t unequal = 0, invalid = 0;

  void Add(const PairSums& other);
};

// Counts; their order does not matter.  Adjacent elements use different sets, because increments of
// equal elements would serialize on one counter.
template <int kSize>
struct Counter {
  static constexpr int kSets = 4;
  std::array<std::array<int32_t, kSize>, kSets> sets = {};

  void AddTo(std::array<int64_t, kSize>& totals) const {
    for (const auto& set : sets) {
      for (int i = 0; i < kSize; ++i) totals[i] += set[i];
    }
  }
};
struct PairCounts {
  // The last bin counts pairs that are not finite.
  Counter<kHistogramBins + 1> baseline = {}, actual = {};
  // Replaces `actual` if CountsBytes: counts stored bytes of blocks without infinities and NaNs.
  Counter<256> bytes = {};
  // Distance in steps from the quantized baseline; the last bin counts NaN baselines.
  Counter<kStepBins + 1> steps = {};
  int64_t saturated = 0, max_steps = 0;
};

struct Bins {
  double low = 0, high = 1;
};

// Grain size: minimum elements per task.  Sums over whole tensors use pieces of this size.
inline constexpr int64_t kPairGrain = 16 << 10;

// Elements [begin, begin + count) with one scale; per-channel, it is the scale of `channel`.
struct ElementRange {
  int64_t begin = 0, count = 0;
  int64_t channel = 0;
};

// Splits the elements of a type where its scale changes and at multiples of `longest`.  `longest`
// must divide the number of elements per scale or be a multiple of it.  A piece has at most
// kPairGrain elements.
std::vector<ElementRange> SplitEvenly(const ir::Type& type, int64_t longest);
// Signal, noise and count of a whole tensor; the other sums are 0.  `actual` holds quantized values
// of `type`, or floats if `type` is not quantized.
PairSums SumNoise(const ir::Tensor& baseline, const ir::Tensor& actual, const ir::Type& type,
                  ThreadPool& pool);
// Whether elements are counted by stored byte: true for 8 bits per-tensor.
bool CountsBytes(const ir::Type& type);
// Adds the counts of bytes to the counts of histogram bins.
void AddBytes(const ir::Type& type, const Bins& bins, const std::array<int64_t, 256>& bytes,
              std::array<int64_t, kHistogramBins + 1>& totals);
// Returns all sums of a range and adds its counts to `counts`.
PairSums SumAndCountPairs(const ir::Tensor& baseline, const ir::Tensor& actual,
                          const ir::Type& type, const ElementRange& range, const Bins& bins,
                          PairCounts& counts);

}  // namespace octavo::report

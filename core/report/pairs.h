// A stretch of a tensor's elements beside their float reference, as sums and counts.  Sums run in
// eight interleaved lanes, joined in one fixed order: equal bits on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::report {

inline constexpr int kStepBins = 17;  // 0..15 steps exactly, then more
inline constexpr int kHistogramBins = 64;

// Sums over pairs (reference, actual) of which both are finite.
struct PairSums {
  double signal = 0;  // reference^2
  double noise = 0;   // (reference - actual)^2
  double energy = 0;  // actual^2
  double dot = 0;     // reference * actual
  double sum_abs = 0, max_abs = 0;
  int64_t count = 0;

  void Add(const PairSums& other);
};

// Counts, which may be taken in any order.  Neighbours count in different sets, since equal ones
// would wait for each other.
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
  // The last bin is for pairs that are not finite.
  Counter<kHistogramBins + 1> reference = {}, actual = {};
  // In place of `actual`, by byte as stored, where CountsCodes and all of a block are finite.
  Counter<256> codes = {};
  // How many steps a code is off the nearest one; the last bin is for NaN references.
  Counter<kStepBins + 1> steps = {};
  int64_t saturated = 0, max_steps = 0;
};

struct Bins {
  double low = 0, high = 1;
};

// Elements that repay handing a part to another thread; sums of whole tensors are cut there.
inline constexpr int64_t kPieceOfPairs = 16 << 10;

// Elements [begin, begin + count), which share one scale: the one of `channel`, if there is any.
struct Stretch {
  int64_t begin = 0, count = 0;
  int64_t channel = 0;
};

// The elements of a type cut where its scale changes and at the multiples of `longest`, which
// divides the elements of one scale or is divided by them; no stretch has more than kPieceOfPairs.
std::vector<Stretch> CutEvenly(const ir::Type& type, int64_t longest);
// Signal, noise and count of a whole tensor, the other sums being 0.  `actual` holds codes of
// `type`, or floats where it is not quantized.
PairSums SumNoise(const ir::Tensor& reference, const ir::Tensor& actual, const ir::Type& type,
                  ThreadPool& pool);
// Whether codes are counted themselves: 8 bits with one scale.
bool CountsCodes(const ir::Type& type);
// Adds such counts to those of bins.
void AddCodes(const ir::Type& type, const Bins& bins, const std::array<int64_t, 256>& codes,
              std::array<int64_t, kHistogramBins + 1>& totals);
// All sums of a stretch, and adds to `counts`.
PairSums SumAndCountPairs(const ir::Tensor& reference, const ir::Tensor& actual,
                          const ir::Type& type, const Stretch& stretch, const Bins& bins,
                          PairCounts& counts);

}  // namespace octavo::report

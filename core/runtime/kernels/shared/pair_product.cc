// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/pair_product.h"

#include <algorithm>
#include <cstdlib>

#include "core/runtime/kernels/shared/wide_product.h"
#include "core/runtime/simd/kernels.h"

namespace octavo::runtime {
namespace {

constexpr int64_t kSumLimit = int64_t{1} << 31;

bool FitsInt16(const ir::Type& type) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  return std::ranges::all_of(type.quant->zero_points, [&](int64_t zero) {
    return range.min - zero >= INT16_MIN && range.max - zero <= INT16_MAX;
  });
}

uint32_t PairOf(int32_t low, int32_t high) {
  return (static_cast<uint32_t>(low) & 0xffffu) | static_cast<uint32_t>(high) << 16;
}

}  // namespace

bool FitPairs(const ir::Type& x, const ir::Type& w) {
  return FitsInt16(x) && FitsInt16(w) && 2 * ReachOf(x) * ReachOf(w) < kSumLimit;
}

PairRows::PairRows(std::span<const int32_t> weights, int64_t rows, int64_t reach) {
  const int64_t taps = static_cast<int64_t>(weights.size()) / std::max<int64_t>(1, rows);
  pairs_ = (taps + 1) / 2;
  weights_.reserve(rows * pairs_);
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t* row = weights.data() + r * taps;
    for (int64_t t = 0; t < taps; t += 2) {
      weights_.push_back(PairOf(row[t], t + 1 < taps ? row[t + 1] : 0));
    }
  }
  std::vector<int64_t> totals(rows, 0);  // of |weight| since the last end
  const auto size_at = [&](int64_t r, int64_t t) {
    return t < taps ? std::abs(int64_t{weights[r * taps + t]}) : 0;
  };
  for (int64_t p = 0; p < pairs_; ++p) {
    bool fits = true;
    for (int64_t r = 0; r < rows; ++r) {
      totals[r] += size_at(r, 2 * p) + size_at(r, 2 * p + 1);
      fits &= totals[r] * reach < kSumLimit;
    }
    if (fits) continue;
    ends_.push_back(p);
    for (int64_t r = 0; r < rows; ++r) totals[r] = size_at(r, 2 * p) + size_at(r, 2 * p + 1);
  }
  ends_.push_back(pairs_);
}

std::vector<uint32_t> PairRows::Pack(const int32_t* x, std::span<const int64_t> offsets) const {
  constexpr int kLanes = simd::kPairLanes;
  const auto taps = static_cast<int64_t>(offsets.size());
  std::vector<uint32_t> block(pairs_ * kLanes);
  for (int64_t t = 0; t < taps; t += 2) {
    const int32_t* low = x + offsets[t];
    uint32_t* to = block.data() + t / 2 * kLanes;
    if (t + 1 == taps) {
      for (int i = 0; i < kLanes; ++i) to[i] = PairOf(low[i], 0);
      continue;
    }
    const int32_t* high = x + offsets[t + 1];
    for (int i = 0; i < kLanes; ++i) to[i] = PairOf(low[i], high[i]);
  }
  return block;
}

void PairRows::Run(std::span<const uint32_t> block, int64_t first, int64_t count,
                   int64_t* sums) const {
  std::fill_n(sums, count * simd::kPairLanes, 0);
  int64_t begin = 0;
  for (const int64_t end : ends_) {
    simd::CurrentKernels().add_pairs({.x = block.data() + begin * simd::kPairLanes,
                                      .weights = weights_.data() + first * pairs_ + begin,
                                      .weight_step = pairs_,
                                      .pairs = end - begin,
                                      .rows = count,
                                      .sums = sums});
    begin = end;
  }
}

}  // namespace octavo::runtime

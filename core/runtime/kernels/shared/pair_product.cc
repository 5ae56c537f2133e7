// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/pair_product.h"

#include <algorithm>
#include <cstdlib>

#include "core/runtime/simd/kernels.h"

namespace octavo::runtime {
namespace {

constexpr int64_t kSumLimit = int64_t{1} << 31;
constexpr int kLanes = simd::kPairLanes;

// Centered values of a type: what is added to fit them into int16, and a bound of the results.
struct Shifted {
  int64_t shift = 0, reach = 0;
};
std::optional<Shifted> ShiftedOf(const ir::Type& type) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const auto [least, most] = std::ranges::minmax(type.quant->zero_points);
  const int64_t low = range.min - most, high = range.max - least;  // of q - z
  if (low >= INT16_MIN && high <= INT16_MAX) return Shifted{0, std::max(-low, high)};
  if (high - low > INT16_MAX - INT16_MIN) return std::nullopt;
  return Shifted{INT16_MIN - low, -int64_t{INT16_MIN}};
}

uint32_t PairOf(int32_t low, int32_t high) {
  return (static_cast<uint32_t>(low) & 0xffffu) | static_cast<uint32_t>(high) << 16;
}

}  // namespace

std::optional<PairForm> PairFormOf(const ir::Type& x, const ir::Type& w) {
  const std::optional<Shifted> of_x = ShiftedOf(x), of_w = ShiftedOf(w);
  if (!of_x || !of_w || 2 * of_x->reach * of_w->reach >= kSumLimit) return std::nullopt;
  return PairForm{of_x->reach, static_cast<int32_t>(of_x->shift),
                  static_cast<int32_t>(of_w->shift)};
}

PairRows::PairRows(std::span<const int32_t> weights, int64_t rows, const PairForm& form)
    : form_(form), taps_(static_cast<int64_t>(weights.size()) / std::max<int64_t>(1, rows)) {
  pairs_ = (taps_ + 1) / 2;
  weights_.resize(rows * pairs_);
  totals_.assign(rows, 0);
  std::vector<int64_t> sizes(rows, 0);  // sums of |w'| since the last end
  for (int64_t p = 0; p < pairs_; ++p) {
    const bool odd = 2 * p + 1 == taps_;
    bool fits = true;
    const auto each = [&](auto&& take) {
      for (int64_t r = 0; r < rows; ++r) {
        const int32_t* pair = weights.data() + r * taps_ + 2 * p;
        take(r, pair[0] + form_.w_shift, odd ? 0 : pair[1] + form_.w_shift);
      }
    };
    each([&](int64_t r, int32_t low, int32_t high) {
      weights_[r * pairs_ + p] = PairOf(low, high);
      totals_[r] += int64_t{low} + high;
      sizes[r] += std::abs(int64_t{low}) + std::abs(int64_t{high});
      fits &= sizes[r] * form_.reach < kSumLimit;
    });
    if (fits) continue;
    ends_.push_back(p);
    each([&](int64_t r, int32_t low, int32_t high) {
      sizes[r] = std::abs(int64_t{low}) + std::abs(int64_t{high});
    });
  }
  ends_.push_back(pairs_);
}

PairBlock PairRows::Pack(const int32_t* x, std::span<const int64_t> offsets) const {
  PairBlock block{.words = std::vector<uint32_t>(pairs_ * kLanes),
                  .sums = std::vector<int64_t>(kLanes, 0)};
  const int32_t shift = form_.x_shift;
  for (int64_t t = 0; t < taps_; t += 2) {
    const int32_t* low = x + offsets[t];
    uint32_t* to = block.words.data() + t / 2 * kLanes;
    if (t + 1 == taps_) {
      for (int i = 0; i < kLanes; ++i) to[i] = PairOf(low[i] + shift, 0);
      if (form_.w_shift == 0) continue;
      for (int i = 0; i < kLanes; ++i) block.sums[i] += low[i] + shift;
      continue;
    }
    const int32_t* high = x + offsets[t + 1];
    for (int i = 0; i < kLanes; ++i) to[i] = PairOf(low[i] + shift, high[i] + shift);
    if (form_.w_shift == 0) continue;
    for (int i = 0; i < kLanes; ++i) block.sums[i] += int64_t{low[i]} + high[i] + 2 * shift;
  }
  return block;
}

void PairRows::Run(const PairBlock& block, int64_t first, int64_t count, int64_t* sums) const {
  const int64_t a = form_.x_shift, b = form_.w_shift;
  for (int64_t r = 0; r < count; ++r) {
    for (int i = 0; i < kLanes; ++i) {
      sums[r * kLanes + i] = taps_ * a * b - a * totals_[first + r] - b * block.sums[i];
    }
  }
  int64_t begin = 0;
  for (const int64_t end : ends_) {
    simd::CurrentKernels().add_pairs({.x = block.words.data() + begin * kLanes,
                                      .weights = weights_.data() + first * pairs_ + begin,
                                      .weight_step = pairs_,
                                      .pairs = end - begin,
                                      .rows = count,
                                      .sums = sums});
    begin = end;
  }
}

}  // namespace octavo::runtime

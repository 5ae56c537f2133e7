// SPDX-License-Identifier: Apache-2.0
// Exactly mergeable histograms.  The bin width is a function of the range alone, and bin edges are
// multiples of the width, so coarsening merges whole bins and the order does not matter.

#include <algorithm>
#include <cmath>

#include "core/profile/count.h"
#include "core/profile/profile.h"

namespace octavo::profile {
namespace {

// Finer bins add no information: every float is a multiple of 2^-149.  With bins at most 40 bits
// finer than the largest magnitude, an index fits an int64.
constexpr int kLeastExponent = -149;
constexpr int kIndexBits = 40;

int64_t BinOf(double value, int exponent) {
  return static_cast<int64_t>(std::floor(std::ldexp(value, -exponent)));
}

int64_t FloorShift(int64_t index, int shift) {
  return shift >= 63 ? (index < 0 ? -1 : 0) : index >> shift;
}

// The least exponent with which [min, max] needs at most kMaxBins bins.
int ExponentFor(float min, float max) {
  int exponent = kLeastExponent;
  const double magnitude = std::max(std::fabs(double{min}), std::fabs(double{max}));
  if (magnitude > 0) exponent = std::max(exponent, std::ilogb(magnitude) - kIndexBits);
  const double span = double{max} - double{min};
  if (span > 0) exponent = std::max(exponent, std::ilogb(span / kMaxBins));
  while (BinOf(max, exponent) - BinOf(min, exponent) >= kMaxBins) ++exponent;
  return exponent;
}

}  // namespace

double Histogram::width() const { return std::ldexp(1.0, exponent_); }
double Histogram::low() const { return std::ldexp(static_cast<double>(first_), exponent_); }
double Histogram::high() const {
  return std::ldexp(static_cast<double>(first_ + static_cast<int64_t>(counts_.size())), exponent_);
}

void Histogram::Coarsen(int exponent) {
  const int shift = exponent - exponent_;
  if (shift > 0 && !counts_.empty()) {
    const int64_t last = first_ + static_cast<int64_t>(counts_.size()) - 1;
    const int64_t new_first = FloorShift(first_, shift);
    std::vector<int64_t> merged(FloorShift(last, shift) - new_first + 1);
    for (size_t k = 0; k < counts_.size(); ++k) {
      merged[FloorShift(first_ + static_cast<int64_t>(k), shift) - new_first] += counts_[k];
    }
    counts_ = std::move(merged);
    first_ = new_first;
  }
  exponent_ = exponent;
}

void Histogram::Cover(float min, float max) {
  if (total_ == 0) {
    min_ = min;
    max_ = max;
  } else {
    min_ = std::min(min_, min);
    max_ = std::max(max_, max);
  }
  const int exponent = ExponentFor(min_, max_);
  if (counts_.empty()) exponent_ = exponent;
  Coarsen(exponent);
  const int64_t first = BinOf(min_, exponent_);
  const int64_t last = BinOf(max_, exponent_);
  if (counts_.empty()) {
    first_ = first;
    counts_.assign(last - first + 1, 0);
    return;
  }
  counts_.insert(counts_.begin(), first_ - first, 0);
  first_ = first;
  counts_.resize(last - first + 1, 0);
}

void Histogram::Add(std::span<const float> values, ThreadPool* pool) {
  const Extent extent = ExtentOf(values, pool);
  non_finite_ += static_cast<int64_t>(values.size()) - extent.finite;
  if (extent.finite == 0) return;
  // Adding 0 turns -0 into 0; otherwise the result would depend on which of them comes first.
  Cover(extent.min + 0.0f, extent.max + 0.0f);
  CountInto(values, {.exponent = exponent_, .first = first_}, pool, counts_);
  total_ += extent.finite;
}

void Histogram::Merge(const Histogram& other) {
  non_finite_ += other.non_finite_;
  if (other.empty()) return;
  Cover(other.min_, other.max_);
  const int shift = exponent_ - other.exponent_;
  for (size_t k = 0; k < other.counts_.size(); ++k) {
    counts_[FloorShift(other.first_ + static_cast<int64_t>(k), shift) - first_] += other.counts_[k];
  }
  total_ += other.total_;
}

Result<Histogram> Histogram::FromCounts(double low, double high, std::vector<int64_t> counts,
                                        float min, float max, int64_t non_finite) {
  const auto wrong = [](std::string_view what) {
    return Fail(Code::kInvalidArgument, "histogram: {}", what).Reason("INVALID_PROFILE");
  };
  if (counts.empty() || counts.size() > kMaxBins) return wrong("must have 1 to 2048 counts");
  if (!std::isfinite(low) || !std::isfinite(high) || low >= high) {
    return wrong("low must be less than high");
  }
  if (!std::isfinite(min) || !std::isfinite(max) || min > max) return wrong("min exceeds max");
  Histogram histogram;
  histogram.exponent_ = ExponentFor(min, max);
  histogram.first_ = BinOf(min, histogram.exponent_);
  histogram.min_ = min;
  histogram.max_ = max;
  histogram.non_finite_ = non_finite;
  for (const int64_t count : counts) {
    if (count < 0) return wrong("a count is negative");
    if (__builtin_add_overflow(histogram.total_, count, &histogram.total_)) {
      return wrong("the counts overflow");
    }
  }
  histogram.counts_ = std::move(counts);
  if (histogram.low() != low || histogram.high() != high) {
    return wrong(
        fmt::format("bins must be the {} of width 2^{} from {} to {} that follow from min and max",
                    BinOf(max, histogram.exponent_) - histogram.first_ + 1, histogram.exponent_,
                    std::ldexp(double(histogram.first_), histogram.exponent_),
                    std::ldexp(double(BinOf(max, histogram.exponent_) + 1), histogram.exponent_)));
  }
  return histogram;
}

}  // namespace octavo::profile

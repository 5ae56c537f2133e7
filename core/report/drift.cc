// SPDX-License-Identifier: Apache-2.0
#include "core/report/drift.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>

namespace octavo::report {
namespace {

constexpr int64_t kGrain = 64 << 10;  // elements: some tens of microseconds
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Part {
  int64_t outside = 0;
  float low = kInfinity, high = -kInfinity;
};

// Without branches, so that it vectorizes.  A comparison with NaN is false.
Part Look(std::span<const float> values, const ir::Range& range) {
  Part part;
  for (const float value : values) {
    const bool below = (value < range.min) & (value > -kInfinity);
    const bool above = (value > range.max) & (value < kInfinity);
    part.outside += below | above;
    part.low = (below & (value < part.low)) ? value : part.low;
    part.high = (above & (value > part.high)) ? value : part.high;
  }
  return part;
}

}  // namespace

void DriftCounter::Add(const ir::Tensor& values, ThreadPool& pool) {
  const std::span<const float> all = values.values<float>();
  std::mutex mutex;
  pool.For(static_cast<int64_t>(all.size()), kGrain, [&](int64_t begin, int64_t end) {
    const Part part =
        Look(all.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), range_);
    const std::lock_guard lock(mutex);
    outside_ += part.outside;
    low_ = std::min(low_, part.low);
    high_ = std::max(high_, part.high);
  });
  elements_ += static_cast<int64_t>(all.size());
}

v1::Drift DriftCounter::Finish() const {
  v1::Drift drift;
  if (outside_ == 0) return drift;
  drift.set_share(static_cast<double>(outside_) / static_cast<double>(elements_));
  double excess = 0;
  if (low_ < range_.min) excess = double{range_.min} - low_;
  if (high_ > range_.max) excess = std::max(excess, double{high_} - range_.max);
  const double width = double{range_.max} - range_.min;
  drift.set_excess(width > 0 ? excess / width : excess);
  return drift;
}

}  // namespace octavo::report

#include "core/profile/count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace octavo::profile {
namespace {

constexpr int64_t kGrain = 1 << 16;  // values that repay handing a part to another thread
constexpr int64_t kBlock = 512;

// Adding and subtracting it rounds |x| < 2^51 to an integer.
constexpr double kRounder = 0x1.8p52;

void ForParts(int64_t count, ThreadPool* pool, const std::function<void(int64_t, int64_t)>& body) {
  if (pool == nullptr) return body(0, count);
  pool->For(count, kGrain, body);
}

Extent ExtentOfPart(const float* values, int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr int kLanes = 16;
  float least[kLanes], most[kLanes];
  int32_t odd[kLanes] = {};
  std::fill_n(least, kLanes, kInfinity);
  std::fill_n(most, kLanes, -kInfinity);
  const auto take = [&](float x, int lane) {
    const bool finite = std::fabs(x) < kInfinity;
    const float low = finite ? x : kInfinity, high = finite ? x : -kInfinity;
    least[lane] = low < least[lane] ? low : least[lane];
    most[lane] = high > most[lane] ? high : most[lane];
    odd[lane] += finite ? 0 : 1;
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) take(values[i + lane], lane);
  }
  for (; i < count; ++i) take(values[i], 0);
  Extent extent{kInfinity, -kInfinity, count};
  for (int lane = 0; lane < kLanes; ++lane) {
    extent.min = std::min(extent.min, least[lane]);
    extent.max = std::max(extent.max, most[lane]);
    extent.finite -= odd[lane];
  }
  return extent;
}

// Where values of a block are counted; `none` for those that are not finite.
void FindBins(const float* values, int64_t count, double scale, double first, int32_t none,
              int32_t* bins) {
  const double most = std::numeric_limits<float>::max(), nowhere = none;
  for (int64_t i = 0; i < count; ++i) {
    const double value = values[i];
    const double x = value * scale;
    double whole = (x + kRounder) - kRounder;
    whole = whole > x ? whole - 1.0 : whole;  // floor
    double bin = whole - first;
    bin = std::fabs(value) <= most ? bin : nowhere;  // NaN too
    bins[i] = static_cast<int32_t>(bin);
  }
}

}  // namespace

Extent ExtentOf(std::span<const float> values, ThreadPool* pool) {
  Extent all{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0};
  std::mutex mutex;
  ForParts(static_cast<int64_t>(values.size()), pool, [&](int64_t begin, int64_t end) {
    const Extent part = ExtentOfPart(values.data() + begin, end - begin);
    const std::lock_guard lock(mutex);
    all = {std::min(all.min, part.min), std::max(all.max, part.max), all.finite + part.finite};
  });
  return all;
}

void CountInto(std::span<const float> values, const BinGrid& grid, ThreadPool* pool,
               std::vector<int64_t>& counts) {
  const double scale = std::ldexp(1.0, -grid.exponent);
  const auto first = static_cast<double>(grid.first);
  const size_t bins = counts.size();
  std::mutex mutex;
  ForParts(static_cast<int64_t>(values.size()), pool, [&](int64_t begin, int64_t end) {
    // Two sets, since equal neighbours (zeros behind a Relu) would wait for each other's count.
    std::vector<int32_t> even(bins + 1), odd(bins + 1);
    int32_t at[kBlock];
    for (int64_t from = begin; from < end; from += kBlock) {
      const int64_t count = std::min(kBlock, end - from);
      FindBins(values.data() + from, count, scale, first, static_cast<int32_t>(bins), at);
      for (int64_t i = 0; i + 1 < count; i += 2) {
        ++even[at[i]];
        ++odd[at[i + 1]];
      }
      if (count % 2 != 0) ++even[at[count - 1]];
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < bins; ++i) counts[i] += int64_t{even[i]} + odd[i];
  });
}

}  // namespace octavo::profile

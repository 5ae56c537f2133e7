// SPDX-License-Identifier: Apache-2.0
#include "core/profile/count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/base/cpu.h"

namespace octavo::profile {
namespace {

constexpr int64_t kGrain = 1 << 16;  // grain size: minimum values per task
constexpr int64_t kBlock = 512;

void ForParts(int64_t count, ThreadPool* pool, const std::function<void(int64_t, int64_t)>& body) {
  if (pool == nullptr) return body(0, count);
  pool->For(count, kGrain, body);
}

const CountLoops& CurrentLoops() {
  return ForIsa(portable::kCountLoops, avx2::kCountLoops, avx512::kCountLoops);
}

// Adjacent equal values (zeros after a Relu) would wait for each other's increment of one counter,
// so they use different sets.
constexpr int kSets = 4;

void CountBlock(const int32_t* at, int64_t count, std::vector<int32_t> (&sets)[kSets]) {
  int32_t* counts[kSets];
  for (int set = 0; set < kSets; ++set) counts[set] = sets[set].data();
  int64_t i = 0;
  for (; i + kSets <= count; i += kSets) {
    for (int set = 0; set < kSets; ++set) ++counts[set][at[i + set]];
  }
  for (; i < count; ++i) ++counts[0][at[i]];
}

}  // namespace

Extent ExtentOf(std::span<const float> values, ThreadPool* pool) {
  Extent all{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0};
  std::mutex mutex;
  ForParts(static_cast<int64_t>(values.size()), pool, [&](int64_t begin, int64_t end) {
    const Extent part = CurrentLoops().extent(values.data() + begin, end - begin);
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
  constexpr int64_t kNear = int64_t{1} << 22;
  const bool near = grid.exponent <= 0 && grid.exponent > -126 && grid.first > -kNear &&
                    grid.first + static_cast<int64_t>(bins) < kNear;
  const auto find = near ? CurrentLoops().near_bins : CurrentLoops().bins;
  std::mutex mutex;
  ForParts(static_cast<int64_t>(values.size()), pool, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sets[kSets];
    for (auto& set : sets) set.assign(bins + 1, 0);
    int32_t at[kBlock];
    for (int64_t from = begin; from < end; from += kBlock) {
      const int64_t count = std::min(kBlock, end - from);
      find({.values = values.data() + from,
            .count = count,
            .scale = scale,
            .first = first,
            .none = static_cast<int32_t>(bins),
            .bins = at});
      CountBlock(at, count, sets);
    }
    const std::lock_guard lock(mutex);
    for (const auto& set : sets) {
      for (size_t i = 0; i < bins; ++i) counts[i] += set[i];
    }
  });
}

}  // namespace octavo::profile

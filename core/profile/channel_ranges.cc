// SPDX-License-Identifier: Apache-2.0
#include "core/profile/channel_ranges.h"

#include <algorithm>
#include <cmath>

#include "core/profile/count.h"

namespace octavo::profile {
namespace {

// Vectorizes, unlike std::isfinite.
bool IsFinite(float x) { return std::fabs(x) <= std::numeric_limits<float>::max(); }

// Adding 0 turns -0 into 0; otherwise the result would depend on which of them comes first.
void Extend(float min, float max, float& into_min, float& into_max) {
  into_min = std::min(into_min, min + 0.0f);
  into_max = std::max(into_max, max + 0.0f);
}

// Channels whose elements lie side by side.
void AddRows(const float* values, int64_t outer, int64_t inner, ChannelRanges& ranges,
             ThreadPool& pool) {
  const auto channels = static_cast<int64_t>(ranges.min.size());
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, outer * inner));
  pool.For(channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t o = 0; o < outer; ++o) {
        const float* row = values + (o * channels + c) * inner;
        const Extent extent = ExtentOf({row, static_cast<size_t>(inner)}, nullptr);
        if (extent.finite > 0) Extend(extent.min, extent.max, ranges.min[c], ranges.max[c]);
      }
    }
  });
}

// Elements of one channel are `channels` apart.
void AddColumns(const float* values, int64_t outer, ChannelRanges& ranges, ThreadPool& pool) {
  const auto channels = static_cast<int64_t>(ranges.min.size());
  pool.For(channels, std::max<int64_t>(64, (1 << 16) / outer), [&](int64_t begin, int64_t end) {
    for (int64_t o = 0; o < outer; ++o) {
      const float* row = values + o * channels;
      for (int64_t c = begin; c < end; ++c) {
        if (IsFinite(row[c])) Extend(row[c], row[c], ranges.min[c], ranges.max[c]);
      }
    }
  });
}

}  // namespace

ChannelRanges EmptyRanges(int axis, int64_t channels) {
  const auto count = static_cast<size_t>(channels);
  return {.axis = axis,
          .min = std::vector<float>(count, kNoRangeMin),
          .max = std::vector<float>(count, kNoRangeMax)};
}

void AddTo(ChannelRanges& ranges, const ir::Tensor& tensor, ThreadPool& pool) {
  if (tensor.size() == 0) return;
  const int64_t inner = ir::StridesOf(tensor.shape())[static_cast<size_t>(ranges.axis)];
  const int64_t outer = tensor.size() / (inner * static_cast<int64_t>(ranges.min.size()));
  const float* values = tensor.values<float>().data();
  if (inner > 1) {
    AddRows(values, outer, inner, ranges, pool);
  } else {
    AddColumns(values, outer, ranges, pool);
  }
}

bool Merge(const ChannelRanges& from, ChannelRanges& into) {
  if (from.axis != into.axis || from.min.size() != into.min.size()) return false;
  for (size_t c = 0; c < from.min.size(); ++c) {
    into.min[c] = std::min(into.min[c], from.min[c]);
    into.max[c] = std::max(into.max[c], from.max[c]);
  }
  return true;
}

}  // namespace octavo::profile

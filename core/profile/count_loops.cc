// SPDX-License-Identifier: Apache-2.0
// The loops of count_loops.h in plain C++.  octavo_vector_loops compiles this file once per
// instruction set; it must not call functions that other files share.

#include "core/profile/count_loops.h"

namespace octavo::profile {
namespace {

// Adding and then subtracting this constant rounds |x| < 2^51 to an integer.
constexpr double kRounder = 0x1.8p52;

// Avoids the standard library's templates, because other files would share their code.
Extent ExtentOfPart(const float* values, int64_t count) {
  constexpr float kInfinity = __builtin_inff();
  constexpr int kLanes = 16;
  float least[kLanes], most[kLanes];
  int32_t odd[kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    least[lane] = kInfinity;
    most[lane] = -kInfinity;
  }
  const auto take = [&](float x, int lane) {
    const bool finite = __builtin_fabsf(x) < kInfinity;
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
    extent.min = least[lane] < extent.min ? least[lane] : extent.min;
    extent.max = most[lane] > extent.max ? most[lane] : extent.max;
    extent.finite -= odd[lane];
  }
  return extent;
}

// Computes the bins of a block's values; `none` for values that are not finite.
void FindBins(const BinCall& call) {
  const double scale = call.scale, first = call.first;
  const double most = __FLT_MAX__, nowhere = call.none;
  const float* __restrict values = call.values;
  int32_t* __restrict bins = call.bins;
  const int64_t count = call.count;
  for (int64_t i = 0; i < count; ++i) {
    const double value = values[i];
    const double x = value * scale;
    double whole = (x + kRounder) - kRounder;
    whole = whole > x ? whole - 1.0 : whole;  // floor
    double bin = whole - first;
    bin = __builtin_fabs(value) <= most ? bin : nowhere;  // also for NaN
    bins[i] = static_cast<int32_t>(bin);
  }
}

// Exact in float: so are products with a power of two >= 1, and integers up to 2^24.
void FindNearBins(const BinCall& call) {
  const auto scale = static_cast<float>(call.scale);
  const auto first = static_cast<int32_t>(call.first);
  const auto nowhere = static_cast<float>(call.none + first);
  const float* __restrict values = call.values;
  int32_t* __restrict bins = call.bins;
  const int64_t count = call.count;
  for (int64_t i = 0; i < count; ++i) {
    const float value = values[i], scaled = value * scale;
    const float x = __builtin_fabsf(value) <= __FLT_MAX__ ? scaled : nowhere;  // also for NaN
    const auto toward_zero = static_cast<int32_t>(x);
    const int32_t floor = toward_zero - (static_cast<float>(toward_zero) > x ? 1 : 0);
    bins[i] = floor - first;
  }
}

}  // namespace

constinit const CountLoops OCTAVO_ISA::kCountLoops = {
    .extent = &ExtentOfPart, .bins = &FindBins, .near_bins = &FindNearBins};

}  // namespace octavo::profile

#include "core/report/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/data_op.h"

namespace octavo::report {
namespace {

constexpr int64_t kBlock = 512;  // pairs at a time, in the nearest cache
constexpr int kLanes = 4;
using Reals = double __attribute__((vector_size(kLanes * sizeof(double))));
using Mask = int64_t __attribute__((vector_size(kLanes * sizeof(double))));

// Adding and subtracting it rounds |x| < 2^51 to an integer, ties to even.
constexpr double kRounder = 0x1.8p52;

struct Block {
  float reference[kBlock];
  float actual[kBlock];
  int32_t codes[kBlock];
  uint8_t bad[kBlock];  // not finite
};

// ------------------------------------------------------------ reading

template <class T>
void ReadCodes(const T* from, int64_t count, float scale, int32_t zero, Block& block) {
  for (int64_t i = 0; i < count; ++i) {
    block.codes[i] = static_cast<int32_t>(from[i]);
    if constexpr (sizeof(T) <= 2) {
      block.actual[i] = static_cast<float>(static_cast<int32_t>(from[i]) - zero) * scale;
    } else {
      block.actual[i] = static_cast<float>(static_cast<int64_t>(from[i]) - zero) * scale;
    }
  }
}

void ReadActual(const ir::Tensor& actual, const ir::Type& type, int64_t begin, int64_t count,
                int64_t channel, Block& block) {
  if (type.quant) {
    const float scale = type.quant->scale(channel);
    const int32_t zero = type.quant->zero_point(channel);
    ops::VisitDType(actual.dtype(), [&]<class T>(T) {
      ReadCodes(actual.values<T>().data() + begin, count, scale, zero, block);
    });
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    block.actual[i] = static_cast<float>(actual.FloatAt(begin + i));
  }
}

// Pairs that are not finite become two zeros, which add nothing; returns how many are left.
int64_t Clean(int64_t count, Block& block) {
  constexpr float kMost = std::numeric_limits<float>::max();
  // A product with 0 is 0 or NaN, and a sum keeps a NaN.
  float sums[8] = {}, worst = 0;
  for (int64_t i = 0; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      sums[lane] += block.reference[i + lane] * 0.0f + block.actual[i + lane] * 0.0f;
    }
  }
  for (int64_t i = count / 8 * 8; i < count; ++i) {
    worst += block.reference[i] * 0.0f + block.actual[i] * 0.0f;
  }
  for (const float sum : sums) worst += sum;
  int32_t bad = 0;
  std::fill_n(block.bad, count, uint8_t{0});
  for (int64_t i = 0; worst != worst && i < count; ++i) {
    const bool finite =
        std::fabs(block.reference[i]) <= kMost && std::fabs(block.actual[i]) <= kMost;
    block.bad[i] = finite ? 0 : 1;
    bad += finite ? 0 : 1;
  }
  for (int64_t i = 0; bad > 0 && i < count; ++i) {
    if (block.bad[i]) block.reference[i] = block.actual[i] = 0;
  }
  for (int64_t i = count; i < (count + kLanes - 1) / kLanes * kLanes; ++i) {
    block.reference[i] = block.actual[i] = 0;
  }
  return count - bad;
}

// ------------------------------------------------------------ sums

struct Lanes {
  Reals signal = {}, noise = {}, energy = {}, dot = {}, sum_abs = {}, max_abs = {};
};

void AddBlock(const Block& block, int64_t count, Lanes& lanes) {
  using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
  constexpr int64_t kMagnitude = std::numeric_limits<int64_t>::max();  // all bits but the sign
  Lanes sums = lanes;
  for (int64_t i = 0; i < count; i += kLanes) {
    Floats x, y;
    __builtin_memcpy(&x, block.reference + i, sizeof(x));
    __builtin_memcpy(&y, block.actual + i, sizeof(y));
    const Reals reference = __builtin_convertvector(x, Reals);
    const Reals actual = __builtin_convertvector(y, Reals);
    const Reals error = reference - actual;
    const Reals magnitude = reinterpret_cast<Reals>(reinterpret_cast<Mask>(error) & kMagnitude);
    sums.signal += reference * reference;
    sums.noise += error * error;
    sums.energy += actual * actual;
    sums.dot += reference * actual;
    sums.sum_abs += magnitude;
    sums.max_abs = magnitude > sums.max_abs ? magnitude : sums.max_abs;
  }
  lanes = sums;
}

double Join(const Reals& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

PairSums Join(const Lanes& lanes, int64_t count) {
  const Reals& most = lanes.max_abs;
  return {.signal = Join(lanes.signal),
          .noise = Join(lanes.noise),
          .energy = Join(lanes.energy),
          .dot = Join(lanes.dot),
          .sum_abs = Join(lanes.sum_abs),
          .max_abs = std::max({most[0], most[1], most[2], most[3]}),
          .count = count};
}

// ------------------------------------------------------------ counts

template <int kSize>
void Count(const int32_t* at, int64_t count, Counter<kSize>& counter) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int set = 0; set < 4; ++set) ++counter.sets[set][at[i + set]];
  }
  for (; i < count; ++i) ++counter.sets[0][at[i]];
}

void CountBins(const float* values, const uint8_t* bad, int64_t count, const Bins& bins,
               Counter<kHistogramBins + 1>& counter) {
  int32_t at[kBlock];
  const double low = bins.low, factor = kHistogramBins / (bins.high - bins.low);
  for (int64_t i = 0; i < count; ++i) {
    double position = (double{values[i]} - low) * factor;
    position = position > 0 ? position : 0;  // NaN too
    position = position < kHistogramBins - 1 ? position : kHistogramBins - 1;
    at[i] = static_cast<int32_t>(position);
  }
  for (int64_t i = 0; i < count; ++i) at[i] = bad[i] ? kHistogramBins : at[i];
  Count(at, count, counter);
}

// How far codes are from clamp(rne(reference / scale) + zero).
void CountSteps(const float* reference, const int32_t* codes, int64_t count, float scale,
                int32_t zero, ir::CodeRange range, PairCounts& counts) {
  int32_t at[kBlock];
  double offs[kBlock], clipped[kBlock];
  const double least = static_cast<double>(range.min), most = static_cast<double>(range.max);
  const double low = least - zero - 1, high = most - zero + 1, offset = zero;
  for (int64_t i = 0; i < count; ++i) {
    const double steps = double{reference[i] / scale};
    double ideal = steps > low ? steps : low;
    ideal = ideal < high ? ideal : high;
    ideal = ((ideal + kRounder) - kRounder) + offset;
    double nearest = ideal > least ? ideal : least;
    nearest = nearest < most ? nearest : most;
    const double code = codes[i];
    double off = std::fabs(nearest - code);
    off = steps == steps ? off : -1.0;  // NaN
    // At a bound and beyond it.
    double beyond = nearest != ideal ? 1.0 : 0.0;
    beyond = code > least ? (code < most ? 0.0 : beyond) : beyond;
    clipped[i] = off < 0 ? 0.0 : beyond;
    offs[i] = off;
    const double kept = off < kStepBins - 1 ? off : kStepBins - 1;
    at[i] = static_cast<int32_t>(kept);
  }
  double most_off = 0, beyond = 0;
  for (int64_t i = 0; i < count; ++i) {
    most_off = offs[i] > most_off ? offs[i] : most_off;
    beyond += clipped[i];
    at[i] = at[i] < 0 ? kStepBins : at[i];
  }
  counts.saturated += static_cast<int64_t>(beyond);
  counts.max_steps = std::max(counts.max_steps, static_cast<int64_t>(most_off));
  Count(at, count, counts.steps);
}

// ------------------------------------------------------------ stretches

PairSums Run(const ir::Tensor& reference, const ir::Tensor& actual, const ir::Type& type,
             const Stretch& stretch, const Bins& bins, PairCounts* counts) {
  const float* from = reference.values<float>().data();
  Block block;
  Lanes lanes;
  int64_t finite = 0;
  const int64_t end = stretch.begin + stretch.count;
  for (int64_t begin = stretch.begin; begin < end; begin += kBlock) {
    const int64_t count = std::min(kBlock, end - begin);
    ReadActual(actual, type, begin, count, stretch.channel, block);
    if (counts != nullptr && type.quant) {
      CountSteps(from + begin, block.codes, count, type.quant->scale(stretch.channel),
                 type.quant->zero_point(stretch.channel), ir::CodesOf(type.dtype), *counts);
    }
    std::copy_n(from + begin, count, block.reference);
    finite += Clean(count, block);
    AddBlock(block, count, lanes);
    if (counts == nullptr) continue;
    CountBins(block.reference, block.bad, count, bins, counts->reference);
    CountBins(block.actual, block.bad, count, bins, counts->actual);
  }
  return Join(lanes, finite);
}

}  // namespace

void PairSums::Add(const PairSums& other) {
  signal += other.signal;
  noise += other.noise;
  energy += other.energy;
  dot += other.dot;
  sum_abs += other.sum_abs;
  max_abs = std::max(max_abs, other.max_abs);
  count += other.count;
}

PairSums SumPairs(const ir::Tensor& reference, const ir::Tensor& actual, const ir::Type& type,
                  const Stretch& stretch) {
  return Run(reference, actual, type, stretch, {}, nullptr);
}

std::vector<Stretch> CutEvenly(const ir::Type& type, int64_t longest) {
  const int axis = type.quant && type.quant->axis ? *type.quant->axis : -1;
  const int64_t size = ir::NumElements(type.shape);
  const int64_t same_scale = axis >= 0 ? ir::StridesOf(type.shape)[axis] : size;
  const int64_t run = std::min(same_scale, longest);
  std::vector<Stretch> stretches;
  for (int64_t begin = 0; begin < size; begin += run) {
    const int64_t channel = axis >= 0 ? begin / same_scale % type.shape[axis] : 0;
    for (int64_t at = begin; at < std::min(size, begin + run); at += kPieceOfPairs) {
      const int64_t end = std::min({size, begin + run, at + kPieceOfPairs});
      stretches.push_back({.begin = at, .count = end - at, .channel = channel});
    }
  }
  return stretches;
}

PairSums SumAllPairs(const ir::Tensor& reference, const ir::Tensor& actual, const ir::Type& type,
                     ThreadPool& pool) {
  const std::vector<Stretch> stretches = CutEvenly(type, reference.size());
  std::vector<PairSums> sums(stretches.size());
  if (sums.empty()) return {};
  const int64_t grain = std::max<int64_t>(1, kPieceOfPairs / stretches[0].count);
  pool.For(static_cast<int64_t>(sums.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = SumPairs(reference, actual, type, stretches[i]);
    }
  });
  PairSums total;
  for (const PairSums& piece : sums) total.Add(piece);
  return total;
}

PairSums SumAndCountPairs(const ir::Tensor& reference, const ir::Tensor& actual,
                          const ir::Type& type, const Stretch& stretch, const Bins& bins,
                          PairCounts& counts) {
  return Run(reference, actual, type, stretch, bins, &counts);
}

}  // namespace octavo::report

// SPDX-License-Identifier: Apache-2.0
#include "core/report/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/cpu.h"
#include "core/ops/shared/data_op.h"
#include "core/report/pair_loops.h"

namespace octavo::report {
namespace {

const PairLoops& CurrentLoops() {
  return ForIsa(portable::kPairLoops, avx2::kPairLoops, avx512::kPairLoops);
}

// ------------------------------------------------------------ reading

bool IsByte(const ir::Type& type) { return ir::SizeOf(type.dtype) == 1; }

const uint8_t* BytesOf(const ir::Tensor& tensor) {
  return reinterpret_cast<const uint8_t*>(tensor.raw());
}

template <class T>
void ReadQuantized(const T* from, int64_t count, float scale, int32_t zero, PairBlock& block) {
  for (int64_t i = 0; i < count; ++i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is extended, as for any other T.
    const auto quantized = static_cast<int64_t>(from[i]);
    block.quantized[i] = static_cast<int32_t>(quantized);
    if constexpr (sizeof(T) <= 2) {
      block.actual[i] = static_cast<float>(block.quantized[i] - zero) * scale;
    } else {
      block.actual[i] = static_cast<float>(quantized - zero) * scale;
    }
  }
}

// The dequantized elements: in the block, or in the tensor if it is f32.
const float* ReadActual(const PairLoops& loops, const ir::Tensor& actual, const ir::Type& type,
                        const ElementRange& part, PairBlock& block) {
  const int64_t begin = part.begin, count = part.count;
  if (!type.quant) {
    if (actual.dtype() == ir::DType::kF32) return actual.values<float>().data() + begin;
    for (int64_t i = 0; i < count; ++i) {
      block.actual[i] = static_cast<float>(actual.FloatAt(begin + i));
    }
    return block.actual;
  }
  const float scale = type.quant->scale(part.channel);
  const int32_t zero = type.quant->zero_point(part.channel);
  if (IsByte(type)) {
    loops.read({.bytes = BytesOf(actual) + begin,
                .count = count,
                .is_signed = type.dtype == ir::DType::kI8,
                .scale = scale,
                .zero = zero,
                .quantized = block.quantized,
                .dequantized = block.actual});
    return block.actual;
  }
  ops::VisitDType(actual.dtype(), [&]<class T>(T) {
    ReadQuantized(actual.values<T>().data() + begin, count, scale, zero, block);
  });
  return block.actual;
}

// ------------------------------------------------------------ sums and counts

double Join(const double* lanes) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

PairSums Join(const PairLanes& lanes, int64_t count) {
  return {.signal = Join(lanes.signal),
          .noise = Join(lanes.noise),
          .energy = Join(lanes.energy),
          .dot = Join(lanes.dot),
          .sum_abs = Join(lanes.sum_abs),
          .max_abs = *std::ranges::max_element(lanes.max_abs),
          .count = count};
}

void CountNonFinite(const float* expected, const float* found, int64_t count, PairSums& sums) {
  for (int64_t i = 0; i < count; ++i) {
    const bool is_finite = std::isfinite(expected[i]);
    if (is_finite && std::isfinite(found[i])) continue;
    sums.unequal += expected[i] != found[i];  // a NaN differs from everything
    sums.invalid += is_finite;
  }
}

// Reads eight bytes at a time, because the compiler must assume that storing a count changes the
// bytes.
void Count(const uint8_t* at, int64_t count, Counter<256>& counter) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, at + i, sizeof(eight));
    for (int k = 0; k < 8; ++k) ++counter.sets[k % 4][(eight >> (8 * k)) & 0xff];
  }
  for (; i < count; ++i) ++counter.sets[0][at[i]];
}

template <int kSize>
void Count(const int32_t* at, int64_t count, Counter<kSize>& counter) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int set = 0; set < 4; ++set) ++counter.sets[set][at[i + set]];
  }
  for (; i < count; ++i) ++counter.sets[0][at[i]];
}

void FindBins(const PairLoops& loops, const float* values, const uint8_t* nonfinite, int64_t count,
              const Bins& bins, int32_t* at) {
  loops.bins({.values = values,
              .nonfinite = nonfinite,
              .count = count,
              .low = bins.low,
              .factor = kHistogramBins / (bins.high - bins.low),
              .bins = kHistogramBins,
              .at = at});
}

void CountBins(const PairLoops& loops, const float* values, const uint8_t* nonfinite, int64_t count,
               const Bins& bins, Counter<kHistogramBins + 1>& counter) {
  int32_t at[kPairBlock];
  FindBins(loops, values, nonfinite, count, bins, at);
  Count(at, count, counter);
}

// ------------------------------------------------------------ ranges

// Adds blocks of pairs to the sums and, if `counts` is not null, to the counts.  Add returns the
// number of finite pairs.
struct Runner {
  const ir::Tensor& baseline;
  const ir::Tensor& actual;
  const ir::Type& type;
  const Bins& bins;
  PairCounts* counts;
  PairBlock& block;
  const PairLoops& loops = CurrentLoops();
  PairLanes lanes = {};
  PairSums non_finite = {};

  int64_t Add(const ElementRange& part) {
    const float* expected = baseline.values<float>().data() + part.begin;
    const float* found = ReadActual(loops, actual, type, part, block);
    const bool all_finite = loops.finite(expected, found, part.count);
    if (counts != nullptr && type.quant) {
      CountSteps({.baseline = expected,
                  .quantized = block.quantized,
                  .count = part.count,
                  .scale = type.quant->scale(part.channel),
                  .zero = type.quant->zero_point(part.channel)},
                 all_finite);
    }
    int64_t finite = part.count;
    const uint8_t* nonfinite = nullptr;
    if (!all_finite) {
      CountNonFinite(expected, found, part.count, non_finite);
      std::copy_n(expected, part.count, block.baseline);
      if (found != block.actual) std::copy_n(found, part.count, block.actual);
      finite = loops.clean(part.count, block);
      expected = block.baseline;
      found = block.actual;
      nonfinite = block.nonfinite;
    }
    if (counts == nullptr) {
      loops.add_noise(expected, found, part.count, lanes);
      return finite;
    }
    loops.add_all(expected, found, part.count, lanes);
    CountBins(loops, expected, nonfinite, part.count, bins, counts->baseline);
    if (nonfinite == nullptr && CountsBytes(type)) {
      Count(BytesOf(actual) + part.begin, part.count, counts->bytes);
    } else {
      CountBins(loops, found, nonfinite, part.count, bins, counts->actual);
    }
    return finite;
  }

  void CountSteps(StepCall call, bool all_finite) const {
    const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
    int32_t at[kPairBlock];
    call.least = static_cast<double>(range.min);
    call.most = static_cast<double>(range.max);
    call.most_steps = kStepBins - 1;
    call.at = at;
    const bool is_narrow = all_finite && range.max - range.min < 1 << 16;
    is_narrow ? loops.narrow_steps(call) : loops.steps(call);
    counts->saturated += static_cast<int64_t>(call.saturated);
    counts->max_steps = std::max(counts->max_steps, static_cast<int64_t>(call.greatest));
    const bool all_counted =
        call.step_counts[0] + call.step_counts[1] + call.step_counts[2] == call.count;
    if (!all_counted) return Count(at, call.count, counts->steps);
    for (int steps = 0; steps < 3; ++steps) counts->steps.sets[0][steps] += call.step_counts[steps];
  }
};

PairSums Run(const ir::Tensor& baseline, const ir::Tensor& actual, const ir::Type& type,
             const ElementRange& range, const Bins& bins, PairCounts* counts) {
  PairBlock block;
  Runner runner{.baseline = baseline,
                .actual = actual,
                .type = type,
                .bins = bins,
                .counts = counts,
                .block = block};
  int64_t finite = 0;
  const int64_t end = range.begin + range.count;
  for (int64_t begin = range.begin; begin < end; begin += kPairBlock) {
    const int64_t count = std::min(kPairBlock, end - begin);
    finite += runner.Add({.begin = begin, .count = count, .channel = range.channel});
  }
  PairSums sums = Join(runner.lanes, finite);
  sums.unequal = runner.non_finite.unequal;
  sums.invalid = runner.non_finite.invalid;
  return sums;
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
  unequal += other.unequal;
  invalid += other.invalid;
}

bool CountsBytes(const ir::Type& type) {
  return type.quant && type.quant->per_tensor() && IsByte(type);
}

void AddBytes(const ir::Type& type, const Bins& bins, const std::array<int64_t, 256>& bytes,
              std::array<int64_t, kHistogramBins + 1>& totals) {
  uint8_t every_byte[256];
  for (int i = 0; i < 256; ++i) every_byte[i] = static_cast<uint8_t>(i);
  int32_t quantized[256], at[256];
  float dequantized[256];
  const PairLoops& loops = CurrentLoops();
  loops.read({.bytes = every_byte,
              .count = 256,
              .is_signed = type.dtype == ir::DType::kI8,
              .scale = type.quant->scale(),
              .zero = type.quant->zero_point(),
              .quantized = quantized,
              .dequantized = dequantized});
  FindBins(loops, dequantized, nullptr, 256, bins, at);
  for (int i = 0; i < 256; ++i) totals[at[i]] += bytes[i];
}

std::vector<ElementRange> SplitEvenly(const ir::Type& type, int64_t longest) {
  const int axis = type.quant && type.quant->axis ? *type.quant->axis : -1;
  const int64_t size = ir::NumElements(type.shape);
  const int64_t same_scale = axis >= 0 ? ir::StridesOf(type.shape)[axis] : size;
  const int64_t run = std::min(same_scale, longest);
  std::vector<ElementRange> ranges;
  for (int64_t begin = 0; begin < size; begin += run) {
    const int64_t channel = axis >= 0 ? begin / same_scale % type.shape[axis] : 0;
    for (int64_t at = begin; at < std::min(size, begin + run); at += kPairGrain) {
      const int64_t end = std::min({size, begin + run, at + kPairGrain});
      ranges.push_back({.begin = at, .count = end - at, .channel = channel});
    }
  }
  return ranges;
}

PairSums SumNoise(const ir::Tensor& baseline, const ir::Tensor& actual, const ir::Type& type,
                  ThreadPool& pool) {
  const std::vector<ElementRange> ranges = SplitEvenly(type, baseline.size());
  std::vector<PairSums> sums(ranges.size());
  if (sums.empty()) return {};
  const int64_t grain = std::max<int64_t>(1, kPairGrain / ranges[0].count);
  pool.For(static_cast<int64_t>(sums.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = Run(baseline, actual, type, ranges[i], {}, nullptr);
    }
  });
  PairSums total;
  for (const PairSums& piece : sums) total.Add(piece);
  return total;
}

PairSums SumAndCountPairs(const ir::Tensor& baseline, const ir::Tensor& actual,
                          const ir::Type& type, const ElementRange& range, const Bins& bins,
                          PairCounts& counts) {
  return Run(baseline, actual, type, range, bins, &counts);
}

}  // namespace octavo::report

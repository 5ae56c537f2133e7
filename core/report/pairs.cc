#include "core/report/pairs.h"

#include <algorithm>

#include "core/base/cpu.h"
#include "core/ops/data_op.h"
#include "core/report/pair_loops.h"

namespace octavo::report {
namespace {

const PairLoops& CurrentLoops() {
#if defined(__x86_64__)
  const Isa isa = CurrentIsa();
  if (isa >= Isa::kAvx512) return kAvx512PairLoops;
  if (isa >= Isa::kAvx2) return kAvx2PairLoops;
#endif
  return kPortablePairLoops;
}

// ------------------------------------------------------------ reading

template <class T>
void ReadCodes(const T* from, int64_t count, float scale, int32_t zero, PairBlock& block) {
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
                int64_t channel, PairBlock& block) {
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

// ------------------------------------------------------------ sums and counts

double Join(const double* lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

PairSums Join(const PairLanes& lanes, int64_t count) {
  const double* most = lanes.max_abs;
  return {.signal = Join(lanes.signal),
          .noise = Join(lanes.noise),
          .energy = Join(lanes.energy),
          .dot = Join(lanes.dot),
          .sum_abs = Join(lanes.sum_abs),
          .max_abs = std::max({most[0], most[1], most[2], most[3]}),
          .count = count};
}

template <int kSize>
void Count(const int32_t* at, int64_t count, Counter<kSize>& counter) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int set = 0; set < 4; ++set) ++counter.sets[set][at[i + set]];
  }
  for (; i < count; ++i) ++counter.sets[0][at[i]];
}

void CountBins(const PairLoops& loops, const float* values, const uint8_t* bad, int64_t count,
               const Bins& bins, Counter<kHistogramBins + 1>& counter) {
  int32_t at[kPairBlock];
  loops.bins({.values = values,
              .bad = bad,
              .count = count,
              .low = bins.low,
              .factor = kHistogramBins / (bins.high - bins.low),
              .bins = kHistogramBins,
              .at = at});
  Count(at, count, counter);
}

void CountSteps(const PairLoops& loops, const float* reference, const int32_t* codes, int64_t count,
                float scale, int32_t zero, ir::CodeRange range, PairCounts& counts) {
  int32_t at[kPairBlock];
  StepCall call{.reference = reference,
                .codes = codes,
                .count = count,
                .scale = scale,
                .zero = zero,
                .least = static_cast<double>(range.min),
                .most = static_cast<double>(range.max),
                .most_steps = kStepBins - 1,
                .at = at};
  loops.steps(call);
  counts.saturated += static_cast<int64_t>(call.saturated);
  counts.max_steps = std::max(counts.max_steps, static_cast<int64_t>(call.greatest));
  Count(at, count, counts.steps);
}

// ------------------------------------------------------------ stretches

PairSums Run(const ir::Tensor& reference, const ir::Tensor& actual, const ir::Type& type,
             const Stretch& stretch, const Bins& bins, PairCounts* counts) {
  const float* from = reference.values<float>().data();
  const PairLoops& loops = CurrentLoops();
  PairBlock block;
  PairLanes lanes = {};
  int64_t finite = 0;
  const int64_t end = stretch.begin + stretch.count;
  for (int64_t begin = stretch.begin; begin < end; begin += kPairBlock) {
    const int64_t count = std::min(kPairBlock, end - begin);
    ReadActual(actual, type, begin, count, stretch.channel, block);
    if (counts != nullptr && type.quant) {
      CountSteps(loops, from + begin, block.codes, count, type.quant->scale(stretch.channel),
                 type.quant->zero_point(stretch.channel), ir::CodesOf(type.dtype), *counts);
    }
    std::copy_n(from + begin, count, block.reference);
    finite += loops.clean(count, block);
    loops.add(block, count, lanes);
    if (counts == nullptr) continue;
    CountBins(loops, block.reference, block.bad, count, bins, counts->reference);
    CountBins(loops, block.actual, block.bad, count, bins, counts->actual);
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

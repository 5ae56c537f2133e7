// SPDX-License-Identifier: Apache-2.0
// The loops of pair_loops.h in plain C++.  octavo_vector_loops compiles this file once per
// instruction set; it must not call functions that other files share.

#include "core/report/pair_loops.h"

namespace octavo::report {
namespace {

// Doubles per register.  The compiler would spill wider generic vectors to memory.
#if defined(__AVX512F__)
constexpr int kRegister = 8;
#elif defined(__AVX__)
constexpr int kRegister = 4;
#else
constexpr int kRegister = 2;
#endif
constexpr int kParts = kPairLanes / kRegister;  // registers that hold one set of lanes
using Doubles = double __attribute__((vector_size(kRegister * sizeof(double))));
using Mask = int64_t __attribute__((vector_size(kRegister * sizeof(double))));

// Adding and then subtracting this constant rounds |x| < 2^51 to an integer, ties to even.
constexpr double kRounder = 0x1.8p52;

bool Finite(const float* baseline, const float* actual, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t x = __builtin_bit_cast(uint32_t, baseline[i]) & kExponent;
    const uint32_t y = __builtin_bit_cast(uint32_t, actual[i]) & kExponent;
    odd |= (x == kExponent ? 1u : 0u) | (y == kExponent ? 1u : 0u);
  }
  return odd == 0;
}

template <class T>
void ReadQuantized(const ReadCall& call) {
  const T* from = reinterpret_cast<const T*>(call.bytes);
  const int64_t count = call.count;
  const float scale = call.scale;
  const int32_t zero = call.zero;
  int32_t* __restrict quantized = call.quantized;
  float* __restrict dequantized = call.dequantized;
  for (int64_t i = 0; i < count; ++i) {
    quantized[i] = int32_t{from[i]};
    dequantized[i] = static_cast<float>(from[i] - zero) * scale;
  }
}

void Read(const ReadCall& call) {
  call.is_signed ? ReadQuantized<int8_t>(call) : ReadQuantized<uint8_t>(call);
}

int64_t Clean(int64_t count, PairBlock& block) {
  int64_t nonfinite = 0;
  for (int64_t i = 0; i < count; ++i) block.nonfinite[i] = 0;
  for (int64_t i = 0; i < count; ++i) {
    // A product with 0 is 0, or NaN for an infinity or a NaN.
    const float x = block.baseline[i] * 0.0f + block.actual[i] * 0.0f;
    if (x == 0) continue;
    block.nonfinite[i] = 1;
    block.baseline[i] = block.actual[i] = 0;
    ++nonfinite;
  }
  return count - nonfinite;
}

// The lanes of one sum in registers.
struct Lanes {
  Doubles part[kParts];

  explicit Lanes(const double* from) { __builtin_memcpy(part, from, sizeof(part)); }
  void StoreTo(double* to) const { __builtin_memcpy(to, part, sizeof(part)); }
};

// Converts to double and pads with zeros, which do not change a sum, to a multiple of kPairLanes.
void Widen(const float* __restrict from, int64_t count, double* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  for (int64_t i = count; i % kPairLanes != 0; ++i) to[i] = 0;
}

// One register of each operand.
struct Pair {
  Doubles x, y;

  Pair(const double* xs, const double* ys) {
    __builtin_memcpy(&x, xs, sizeof(x));
    __builtin_memcpy(&y, ys, sizeof(y));
  }
};

void AddNoise(const float* baseline, const float* actual, int64_t count, PairLanes& lanes) {
  alignas(64) double xs[kPairBlock], ys[kPairBlock];
  Widen(baseline, count, xs);
  Widen(actual, count, ys);
  Lanes signal(lanes.signal), noise(lanes.noise);
  for (int64_t i = 0; i < count; i += kPairLanes) {
    for (int part = 0; part < kParts; ++part) {
      const int64_t at = i + int64_t{part} * kRegister;
      const auto [x, y] = Pair(xs + at, ys + at);
      const Doubles error = x - y;
      signal.part[part] += x * x;
      noise.part[part] += error * error;
    }
  }
  signal.StoreTo(lanes.signal);
  noise.StoreTo(lanes.noise);
}

void AddAll(const float* baseline, const float* actual, int64_t count, PairLanes& lanes) {
  alignas(64) double xs[kPairBlock], ys[kPairBlock];
  Widen(baseline, count, xs);
  Widen(actual, count, ys);
  const Mask magnitude_bits = Mask{} + INT64_MAX;
  Lanes signal(lanes.signal), noise(lanes.noise), energy(lanes.energy), dot(lanes.dot);
  Lanes sum_abs(lanes.sum_abs), max_abs(lanes.max_abs);
  for (int64_t i = 0; i < count; i += kPairLanes) {
    for (int part = 0; part < kParts; ++part) {
      const int64_t at = i + int64_t{part} * kRegister;
      const auto [x, y] = Pair(xs + at, ys + at);
      const Doubles error = x - y;
      const Doubles away =
          reinterpret_cast<Doubles>(reinterpret_cast<Mask>(error) & magnitude_bits);
      signal.part[part] += x * x;
      noise.part[part] += error * error;
      energy.part[part] += y * y;
      dot.part[part] += x * y;
      sum_abs.part[part] += away;
      max_abs.part[part] = away > max_abs.part[part] ? away : max_abs.part[part];
    }
  }
  signal.StoreTo(lanes.signal);
  noise.StoreTo(lanes.noise);
  energy.StoreTo(lanes.energy);
  dot.StoreTo(lanes.dot);
  sum_abs.StoreTo(lanes.sum_abs);
  max_abs.StoreTo(lanes.max_abs);
}

void FindBins(const BinCall& call) {
  const double last = call.bins - 1, low = call.low, factor = call.factor;
  const float* __restrict values = call.values;
  const int64_t count = call.count;
  int32_t* __restrict at = call.at;
  for (int64_t i = 0; i < count; ++i) {
    double position = (double{values[i]} - low) * factor;
    position = position > 0 ? position : 0;  // also maps NaN to 0
    position = position < last ? position : last;
    at[i] = static_cast<int32_t>(position);
  }
  for (int64_t i = 0; call.nonfinite != nullptr && i < count; ++i)
    at[i] = call.nonfinite[i] ? call.bins : at[i];
}

void FindSteps(StepCall& call) {
  double offs[kPairBlock], clipped[kPairBlock];
  const double least = call.least, most = call.most, offset = call.zero;
  const double low = least - offset - 1, high = most - offset + 1, most_steps = call.most_steps;
  const float scale = call.scale;
  for (int64_t i = 0; i < call.count; ++i) {
    const double steps = double{call.baseline[i] / scale};
    double ideal = steps > low ? steps : low;
    ideal = ideal < high ? ideal : high;
    ideal = ((ideal + kRounder) - kRounder) + offset;
    double nearest = ideal > least ? ideal : least;
    nearest = nearest < most ? nearest : most;
    const double quantized = call.quantized[i];
    double off = __builtin_fabs(nearest - quantized);
    off = steps == steps ? off : -1.0;  // NaN
    // Saturated: the quantized value is a bound of the type and the exact value lies beyond it.
    double beyond = nearest != ideal ? 1.0 : 0.0;
    beyond = quantized > least ? (quantized < most ? 0.0 : beyond) : beyond;
    clipped[i] = off < 0 ? 0.0 : beyond;
    offs[i] = off;
    const double kept = off < most_steps ? off : most_steps;
    call.at[i] = static_cast<int32_t>(kept);
  }
  double greatest = 0, saturated = 0;
  for (int64_t i = 0; i < call.count; ++i) {
    greatest = offs[i] > greatest ? offs[i] : greatest;
    call.at[i] = call.at[i] < 0 ? call.most_steps + 1 : call.at[i];
  }
  for (int64_t i = 0; i < call.count; ++i) saturated += clipped[i];
  call.greatest = greatest;
  call.saturated = saturated;
}

// Works in float, because a float represents all of these integers exactly.
void FindNarrowSteps(StepCall& call) {
  constexpr float kShift = 0x1.8p23f;  // rounds |x| < 2^22, ties to even
  const auto least = static_cast<int32_t>(call.least), most = static_cast<int32_t>(call.most);
  const int32_t most_steps = call.most_steps;
  const float low = static_cast<float>(least - call.zero - 1);
  const float high = static_cast<float>(most - call.zero + 1);
  const int32_t offset = call.zero - __builtin_bit_cast(int32_t, kShift);
  const float* __restrict baseline = call.baseline;
  const int32_t* __restrict quantized = call.quantized;
  int32_t* __restrict at = call.at;
  const float scale = call.scale;
  const int64_t count = call.count;
  int32_t greatest = 0, saturated = 0, one = 0, two = 0, three = 0;  // sums of off up to 1, 2, 3
  for (int64_t i = 0; i < count; ++i) {
    const float steps = baseline[i] / scale;
    float real = steps > low ? steps : low;
    real = real < high ? real : high;
    const int32_t ideal = __builtin_bit_cast(int32_t, real + kShift) + offset;
    int32_t nearest = ideal > least ? ideal : least;
    nearest = nearest < most ? nearest : most;
    const int32_t value = quantized[i];
    const int32_t away = nearest - value;
    const int32_t off = away < 0 ? -away : away;
    greatest = off > greatest ? off : greatest;
    one += off < 1 ? off : 1;
    two += off < 2 ? off : 2;
    three += off < 3 ? off : 3;
    at[i] = off < most_steps ? off : most_steps;
    // Saturated: the value is a bound, and `ideal` is one beyond `nearest`.
    const int32_t beyond = ideal - nearest, inside = (value - least) * (most - value);
    saturated += inside < 1 ? beyond * beyond : 0;
  }
  call.step_counts[0] = static_cast<int32_t>(count) - one;
  call.step_counts[1] = one - (two - one);
  call.step_counts[2] = (two - one) - (three - two);
  call.greatest = greatest;
  call.saturated = saturated;
}

}  // namespace

constinit const PairLoops OCTAVO_ISA::kPairLoops = {.finite = &Finite,
                                                    .read = &Read,
                                                    .clean = &Clean,
                                                    .add_noise = &AddNoise,
                                                    .add_all = &AddAll,
                                                    .bins = &FindBins,
                                                    .steps = &FindSteps,
                                                    .narrow_steps = &FindNarrowSteps};

}  // namespace octavo::report

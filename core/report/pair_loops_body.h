// The loops of pair_loops.h in plain C++, compiled once per instruction set.  All of it has
// internal linkage and calls nothing, so that no other file gets code for one instruction set.
#pragma once

#include "core/report/pair_loops.h"

namespace octavo::report {
namespace {

using Reals = double __attribute__((vector_size(kPairLanes * sizeof(double))));
using Floats = float __attribute__((vector_size(kPairLanes * sizeof(float))));
using Mask = int64_t __attribute__((vector_size(kPairLanes * sizeof(double))));

// Adding and subtracting it rounds |x| < 2^51 to an integer, ties to even.
constexpr double kRounder = 0x1.8p52;

bool Finite(const float* reference, const float* actual, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t x = __builtin_bit_cast(uint32_t, reference[i]) & kExponent;
    const uint32_t y = __builtin_bit_cast(uint32_t, actual[i]) & kExponent;
    odd |= (x == kExponent ? 1u : 0u) | (y == kExponent ? 1u : 0u);
  }
  return odd == 0;
}

template <class T>
void ReadCodes(const ReadCall& call) {
  const T* from = reinterpret_cast<const T*>(call.bytes);
  const int64_t count = call.count;
  const float scale = call.scale;
  const int32_t zero = call.zero;
  int32_t* __restrict codes = call.codes;
  float* __restrict reals = call.reals;
  for (int64_t i = 0; i < count; ++i) {
    codes[i] = from[i];
    reals[i] = static_cast<float>(from[i] - zero) * scale;
  }
}

void Read(const ReadCall& call) {
  call.is_signed ? ReadCodes<int8_t>(call) : ReadCodes<uint8_t>(call);
}

int64_t Clean(int64_t count, PairBlock& block) {
  int64_t bad = 0;
  for (int64_t i = 0; i < count; ++i) block.bad[i] = 0;
  for (int64_t i = 0; i < count; ++i) {
    // A product with 0 is 0 or NaN.
    const float x = block.reference[i] * 0.0f + block.actual[i] * 0.0f;
    if (x == 0) continue;
    block.bad[i] = 1;
    block.reference[i] = block.actual[i] = 0;
    ++bad;
  }
  return count - bad;
}

// The next kPairLanes pairs; two zeros, which add nothing, beyond the end.
inline void LoadPairs(const float* reference, const float* actual, int64_t left, Reals& x,
                      Reals& y) {
  Floats from = {}, to = {};
  if (left >= kPairLanes) {
    __builtin_memcpy(&from, reference, sizeof(from));
    __builtin_memcpy(&to, actual, sizeof(to));
  } else {
    for (int64_t lane = 0; lane < left; ++lane) {
      from[lane] = reference[lane];
      to[lane] = actual[lane];
    }
  }
  x = __builtin_convertvector(from, Reals);
  y = __builtin_convertvector(to, Reals);
}

void AddNoise(const float* reference, const float* actual, int64_t count, PairLanes& lanes) {
  Reals signal, noise;
  __builtin_memcpy(&signal, lanes.signal, sizeof(signal));
  __builtin_memcpy(&noise, lanes.noise, sizeof(noise));
  for (int64_t i = 0; i < count; i += kPairLanes) {
    Reals x, y;
    LoadPairs(reference + i, actual + i, count - i, x, y);
    const Reals error = x - y;
    signal += x * x;
    noise += error * error;
  }
  __builtin_memcpy(lanes.signal, &signal, sizeof(signal));
  __builtin_memcpy(lanes.noise, &noise, sizeof(noise));
}

void AddRest(const float* reference, const float* actual, int64_t count, PairLanes& lanes) {
  const Mask magnitude_bits = Mask{} + INT64_MAX;
  Reals energy, dot, sum_abs, max_abs;
  __builtin_memcpy(&energy, lanes.energy, sizeof(energy));
  __builtin_memcpy(&dot, lanes.dot, sizeof(dot));
  __builtin_memcpy(&sum_abs, lanes.sum_abs, sizeof(sum_abs));
  __builtin_memcpy(&max_abs, lanes.max_abs, sizeof(max_abs));
  for (int64_t i = 0; i < count; i += kPairLanes) {
    Reals x, y;
    LoadPairs(reference + i, actual + i, count - i, x, y);
    const Reals error = x - y;
    const Reals magnitude = reinterpret_cast<Reals>(reinterpret_cast<Mask>(error) & magnitude_bits);
    energy += y * y;
    dot += x * y;
    sum_abs += magnitude;
    max_abs = magnitude > max_abs ? magnitude : max_abs;
  }
  __builtin_memcpy(lanes.energy, &energy, sizeof(energy));
  __builtin_memcpy(lanes.dot, &dot, sizeof(dot));
  __builtin_memcpy(lanes.sum_abs, &sum_abs, sizeof(sum_abs));
  __builtin_memcpy(lanes.max_abs, &max_abs, sizeof(max_abs));
}

void FindBins(const BinCall& call) {
  const double last = call.bins - 1, low = call.low, factor = call.factor;
  const float* __restrict values = call.values;
  const int64_t count = call.count;
  int32_t* __restrict at = call.at;
  for (int64_t i = 0; i < count; ++i) {
    double position = (double{values[i]} - low) * factor;
    position = position > 0 ? position : 0;  // NaN too
    position = position < last ? position : last;
    at[i] = static_cast<int32_t>(position);
  }
  for (int64_t i = 0; call.bad != nullptr && i < count; ++i)
    at[i] = call.bad[i] ? call.bins : at[i];
}

void FindSteps(StepCall& call) {
  double offs[kPairBlock], clipped[kPairBlock];
  const double least = call.least, most = call.most, offset = call.zero;
  const double low = least - offset - 1, high = most - offset + 1, most_steps = call.most_steps;
  const float scale = call.scale;
  for (int64_t i = 0; i < call.count; ++i) {
    const double steps = double{call.reference[i] / scale};
    double ideal = steps > low ? steps : low;
    ideal = ideal < high ? ideal : high;
    ideal = ((ideal + kRounder) - kRounder) + offset;
    double nearest = ideal > least ? ideal : least;
    nearest = nearest < most ? nearest : most;
    const double code = call.codes[i];
    double off = __builtin_fabs(nearest - code);
    off = steps == steps ? off : -1.0;  // NaN
    // At a bound and beyond it.
    double beyond = nearest != ideal ? 1.0 : 0.0;
    beyond = code > least ? (code < most ? 0.0 : beyond) : beyond;
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

// All numbers are integers that a float holds exactly.
void FindNarrowSteps(StepCall& call) {
  constexpr float kShift = 0x1.8p23f;  // rounds |x| < 2^22 to even
  const auto least = static_cast<int32_t>(call.least), most = static_cast<int32_t>(call.most);
  const int32_t zero = call.zero, most_steps = call.most_steps;
  const float low = static_cast<float>(least - zero - 1);
  const float high = static_cast<float>(most - zero + 1);
  const float* __restrict reference = call.reference;
  const int32_t* __restrict codes = call.codes;
  int32_t* __restrict at = call.at;
  const float scale = call.scale;
  const int64_t count = call.count;
  int32_t offs[kPairBlock], clipped[kPairBlock];
  for (int64_t i = 0; i < count; ++i) {
    const float steps = reference[i] / scale;
    float real = steps > low ? steps : low;
    real = real < high ? real : high;
    const int32_t ideal =
        __builtin_bit_cast(int32_t, real + kShift) - __builtin_bit_cast(int32_t, kShift) + zero;
    int32_t nearest = ideal > least ? ideal : least;
    nearest = nearest < most ? nearest : most;
    const int32_t code = codes[i];
    const int32_t away = nearest - code;
    const int32_t off = away < 0 ? -away : away;
    // At a bound and beyond it.
    const int32_t real_number = steps == steps ? 1 : 0;
    const int32_t bound = (code <= least ? 1 : 0) | (code >= most ? 1 : 0);
    clipped[i] = (nearest != ideal ? 1 : 0) & bound & real_number;
    offs[i] = real_number != 0 ? off : -1;
  }
  int32_t greatest = 0, saturated = 0;
  for (int64_t i = 0; i < count; ++i) greatest = offs[i] > greatest ? offs[i] : greatest;
  for (int64_t i = 0; i < count; ++i) saturated += clipped[i];
  for (int32_t few = 0; few < 3; ++few) {
    int32_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += offs[i] == few ? 1 : 0;
    call.few[few] = found;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int32_t kept = offs[i] < most_steps ? offs[i] : most_steps;
    at[i] = kept < 0 ? most_steps + 1 : kept;
  }
  call.greatest = greatest;
  call.saturated = saturated;
}

constexpr PairLoops MakePairLoops() {
  return {.finite = &Finite,
          .read = &Read,
          .clean = &Clean,
          .add_noise = &AddNoise,
          .add_rest = &AddRest,
          .bins = &FindBins,
          .steps = &FindSteps,
          .narrow_steps = &FindNarrowSteps};
}

}  // namespace
}  // namespace octavo::report

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

int64_t Clean(int64_t count, PairBlock& block) {
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
  int64_t bad = 0;
  for (int64_t i = 0; i < count; ++i) block.bad[i] = 0;
  for (int64_t i = 0; worst != worst && i < count; ++i) {
    const float x = block.reference[i] * 0.0f + block.actual[i] * 0.0f;
    if (x == 0) continue;
    block.bad[i] = 1;
    block.reference[i] = block.actual[i] = 0;
    ++bad;
  }
  for (int64_t i = count; i < (count + kPairLanes - 1) / kPairLanes * kPairLanes; ++i) {
    block.reference[i] = block.actual[i] = 0;
  }
  return count - bad;
}

void AddBlock(const PairBlock& block, int64_t count, PairLanes& lanes) {
  const Mask magnitude_bits = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  Reals signal, noise, energy, dot, sum_abs, max_abs;
  __builtin_memcpy(&signal, lanes.signal, sizeof(signal));
  __builtin_memcpy(&noise, lanes.noise, sizeof(noise));
  __builtin_memcpy(&energy, lanes.energy, sizeof(energy));
  __builtin_memcpy(&dot, lanes.dot, sizeof(dot));
  __builtin_memcpy(&sum_abs, lanes.sum_abs, sizeof(sum_abs));
  __builtin_memcpy(&max_abs, lanes.max_abs, sizeof(max_abs));
  for (int64_t i = 0; i < count; i += kPairLanes) {
    Floats x, y;
    __builtin_memcpy(&x, block.reference + i, sizeof(x));
    __builtin_memcpy(&y, block.actual + i, sizeof(y));
    const Reals reference = __builtin_convertvector(x, Reals);
    const Reals actual = __builtin_convertvector(y, Reals);
    const Reals error = reference - actual;
    const Reals magnitude = reinterpret_cast<Reals>(reinterpret_cast<Mask>(error) & magnitude_bits);
    signal += reference * reference;
    noise += error * error;
    energy += actual * actual;
    dot += reference * actual;
    sum_abs += magnitude;
    max_abs = magnitude > max_abs ? magnitude : max_abs;
  }
  __builtin_memcpy(lanes.signal, &signal, sizeof(signal));
  __builtin_memcpy(lanes.noise, &noise, sizeof(noise));
  __builtin_memcpy(lanes.energy, &energy, sizeof(energy));
  __builtin_memcpy(lanes.dot, &dot, sizeof(dot));
  __builtin_memcpy(lanes.sum_abs, &sum_abs, sizeof(sum_abs));
  __builtin_memcpy(lanes.max_abs, &max_abs, sizeof(max_abs));
}

void FindBins(const BinCall& call) {
  const double last = call.bins - 1;
  for (int64_t i = 0; i < call.count; ++i) {
    double position = (double{call.values[i]} - call.low) * call.factor;
    position = position > 0 ? position : 0;  // NaN too
    position = position < last ? position : last;
    call.at[i] = static_cast<int32_t>(position);
  }
  for (int64_t i = 0; i < call.count; ++i) call.at[i] = call.bad[i] ? call.bins : call.at[i];
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

constexpr PairLoops MakePairLoops() {
  return {.clean = &Clean, .add = &AddBlock, .bins = &FindBins, .steps = &FindSteps};
}

}  // namespace
}  // namespace octavo::report

// SPDX-License-Identifier: Apache-2.0
// The vector loops of pairs.h over one block.  Each instruction set has its own table of functions;
// all tables give equal bits.
#pragma once

#include <cstdint>

namespace octavo::report {

inline constexpr int64_t kPairBlock = 512;  // pairs per block, which fits the L1 cache
inline constexpr int kPairLanes = 8;

struct PairBlock {
  float baseline[kPairBlock];
  float actual[kPairBlock];
  int32_t quantized[kPairBlock];
  uint8_t nonfinite[kPairBlock];  // 1: not finite
};

struct PairLanes {
  double signal[kPairLanes], noise[kPairLanes], energy[kPairLanes], dot[kPairLanes];
  double sum_abs[kPairLanes], max_abs[kPairLanes];
};

// Reads 8-bit quantized values and dequantizes them.
struct ReadCall {
  const uint8_t* bytes = nullptr;
  int64_t count = 0;
  bool is_signed = false;
  float scale = 1;
  int32_t zero = 0;
  int32_t* quantized = nullptr;
  float* dequantized = nullptr;
};

// Computes indices in a histogram of `bins` bins from `low`; a pair that is not finite gets `bins`.
struct BinCall {
  const float* values = nullptr;
  const uint8_t* nonfinite = nullptr;  // null: all pairs are finite
  int64_t count = 0;
  double low = 0, factor = 1;  // bin = (value - low) * factor
  int32_t bins = 0;
  int32_t* at = nullptr;
};

// Computes the distance of quantized values from clamp(rne(baseline / scale) + zero): at[i] =
// min(steps, most_steps), or most_steps + 1 for a NaN.
struct StepCall {
  const float* baseline = nullptr;
  const int32_t* quantized = nullptr;
  int64_t count = 0;
  float scale = 1;
  int32_t zero = 0;
  double least = 0, most = 0;  // bounds of the type's quantized values
  int32_t most_steps = 0;
  int32_t* at = nullptr;
  double greatest = 0, saturated = 0;  // results
  // Number of elements that are 0, 1 and 2 steps off; only `narrow_steps` sets it.
  int32_t step_counts[3] = {};
};

struct PairLoops {
  bool (*finite)(const float* baseline, const float* actual, int64_t count) = nullptr;
  void (*read)(const ReadCall& call) = nullptr;
  // Replaces pairs that are not finite by zeros, which do not change a sum; returns the number of
  // finite pairs.
  int64_t (*clean)(int64_t count, PairBlock& block) = nullptr;
  // add_noise accumulates only signal and noise; add_all accumulates all sums.
  void (*add_noise)(const float* baseline, const float* actual, int64_t count,
                    PairLanes& lanes) = nullptr;
  void (*add_all)(const float* baseline, const float* actual, int64_t count,
                  PairLanes& lanes) = nullptr;
  void (*bins)(const BinCall& call) = nullptr;
  void (*steps)(StepCall& call) = nullptr;
  // As `steps`, for types of at most 16 bits and finite baselines.
  void (*narrow_steps)(StepCall& call) = nullptr;
};

namespace portable {
extern const PairLoops kPairLoops;
}
namespace avx2 {
extern const PairLoops kPairLoops;
}
namespace avx512 {
extern const PairLoops kPairLoops;
}

}  // namespace octavo::report

// The loops behind pairs.h over one block, one table of functions per instruction set; all give the
// same bits.
#pragma once

#include <cstdint>

namespace octavo::report {

inline constexpr int64_t kPairBlock = 512;  // pairs at a time, in the nearest cache
inline constexpr int kPairLanes = 8;

struct PairBlock {
  float reference[kPairBlock];
  float actual[kPairBlock];
  int32_t codes[kPairBlock];
  uint8_t bad[kPairBlock];  // not finite
};

struct PairLanes {
  double signal[kPairLanes], noise[kPairLanes], energy[kPairLanes], dot[kPairLanes];
  double sum_abs[kPairLanes], max_abs[kPairLanes];
};

// Codes of 8 bits and their reals.
struct ReadCall {
  const uint8_t* bytes = nullptr;
  int64_t count = 0;
  bool is_signed = false;
  float scale = 1;
  int32_t zero = 0;
  int32_t* codes = nullptr;
  float* reals = nullptr;
};

// Places in a histogram of `bins` bins from `low` on; `bins` itself for a bad pair.
struct BinCall {
  const float* values = nullptr;
  const uint8_t* bad = nullptr;  // or null: none is
  int64_t count = 0;
  double low = 0, factor = 1;  // bin = (value - low) * factor
  int32_t bins = 0;
  int32_t* at = nullptr;
};

// How far codes are from clamp(rne(reference / scale) + zero): at[i] = min(steps, most_steps), or
// most_steps + 1 for a NaN.
struct StepCall {
  const float* reference = nullptr;
  const int32_t* codes = nullptr;
  int64_t count = 0;
  float scale = 1;
  int32_t zero = 0;
  double least = 0, most = 0;  // code
  int32_t most_steps = 0;
  int32_t* at = nullptr;
  double greatest = 0, saturated = 0;  // results
  // How many are off by 0, 1 and 2 steps, by `narrow_steps` alone.
  int32_t few[3] = {};
};

struct PairLoops {
  bool (*finite)(const float* reference, const float* actual, int64_t count) = nullptr;
  void (*read)(const ReadCall& call) = nullptr;
  // Pairs that are not finite become two zeros, which add nothing; returns how many are left.
  int64_t (*clean)(int64_t count, PairBlock& block) = nullptr;
  // Signal and noise alone; all sums.
  void (*add_noise)(const float* reference, const float* actual, int64_t count,
                    PairLanes& lanes) = nullptr;
  void (*add_all)(const float* reference, const float* actual, int64_t count,
                  PairLanes& lanes) = nullptr;
  void (*bins)(const BinCall& call) = nullptr;
  void (*steps)(StepCall& call) = nullptr;
  // The same for codes of at most 16 bits and finite references.
  void (*narrow_steps)(StepCall& call) = nullptr;
};

extern const PairLoops kPortablePairLoops;
#if defined(__x86_64__)
extern const PairLoops kAvx2PairLoops;
extern const PairLoops kAvx512PairLoops;
#endif

}  // namespace octavo::report

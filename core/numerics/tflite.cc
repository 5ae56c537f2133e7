// SPDX-License-Identifier: Apache-2.0
// Mode `tflite`: TFLite's default, also CMSIS-NN's and TOSA's DOUBLE_ROUND.  Rounds a product half
// up to 31 bits, then half away from zero, so one requantization may have an error of more than
// half a step.
#include "core/numerics/tflite_mode.h"

namespace octavo::numerics {
namespace {

constexpr TfliteRounding kRounding{.multiply = &MultiplyDoubleRounding,
                                   .greatest_input_multiplier = 0x1p31 - 1};

constexpr Mode Row() {
  Mode mode = TfliteMode<kRounding>("tflite");
  mode.rounds_beyond_half = true;
  return mode;
}

}  // namespace

extern constexpr Mode kTflite = Row();

}  // namespace octavo::numerics

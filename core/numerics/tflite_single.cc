// SPDX-License-Identifier: Apache-2.0
// Mode `tflite-single`: TFLite built with TFLITE_SINGLE_ROUNDING, TOSA's SINGLE_ROUND, TVM's
// UPWARD: a product is rounded once, ties to +infinity.
#include "core/numerics/tflite_mode.h"

namespace octavo::numerics {
namespace {

constexpr TfliteRounding kRounding{.multiply = &MultiplySingleRounding,
                                   .greatest_input_multiplier = 0x1p30 - 1};

}  // namespace

extern constexpr Mode kTfliteSingle = TfliteMode<kRounding>("tflite-single");

}  // namespace octavo::numerics

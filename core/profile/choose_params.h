// SPDX-License-Identifier: Apache-2.0
// Chooses a scale and a zero point for a range of real values.  Zero is always representable
// exactly, because padding and Relu produce it.  Formulas: arithmetic, "Parameters from a range".
#pragma once

#include "core/profile/calibration.h"
#include "core/profile/profile.h"
#include "core/target/target.h"

namespace octavo::profile {

struct Params {
  float scale = 1;
  int32_t zero_point = 0;
  bool all_zero = false;  // the range was [0, 0]: scale 1 stands for "any"
  bool floored = false;   // the scale was raised to stay normal

  bool operator==(const Params&) const = default;
};

struct Scheme {
  target::SchemeKind kind = target::SchemeKind::kAsymmetric;
  ir::DType dtype = ir::DType::kU8;
  bool narrow_range = false;  // signed storage without its least integer
  bool glow_zero = false;     // the zero point is computed from the nearer end, as in Glow
};

// How a target's activations are quantized.
Scheme SchemeOf(const target::Target& target);
// How the target's rule quantizes weights.
Scheme WeightSchemeOf(const target::Target& target);

// The least power of two that is not below the scale.
float RoundUpToPowerOfTwo(float scale);

// The integers that a scheme uses.
ir::IntegerRange IntegersOf(const Scheme& scheme);

// `min` <= `max`, both finite.
Params ChooseParams(float min, float max, const Scheme& scheme);

// The range that a calibration method chooses for an entry.  All but min/max need a histogram;
// where the entry has none they fall back to its min and max and set `used_min_max`.
struct CalibratedRange {
  float min = 0;
  float max = 0;
  bool used_min_max = false;
};
CalibratedRange Calibrate(const Entry& entry, const Calibration& calibration, const Scheme& scheme);

}  // namespace octavo::profile

// SPDX-License-Identifier: Apache-2.0
// Chooses the scale and the zero point for a range of real values.  Zero is always exactly
// representable, because padding and Relu produce it: a range is first widened to contain 0.  With
// q the stored integers from qmin to qmax:
//   asymmetric      scale = (max - min) / (qmax - qmin)
//                   zero point = clamp(rne(qmin - min / scale))
//   symmetric       zero point 0 (signed) or the middle (unsigned)
//                   scale = the larger of |min| / (zero point - qmin), |max| / (qmax - zero point)
//   pow2            symmetric, scale rounded up to a power of two
#pragma once

#include "core/profile/calibration.h"
#include "core/profile/profile.h"
#include "core/target/target.h"

namespace octavo::profile {

struct Params {
  float scale = 1;
  int32_t zero_point = 0;
  bool all_zero = false;  // the range was [0, 0]; any scale fits, and 1 is chosen
  bool floored = false;   // the scale was raised to avoid subnormal numbers

  bool operator==(const Params&) const = default;
};

struct Scheme {
  target::SchemeKind kind = target::SchemeKind::kAsymmetric;
  ir::DType dtype = ir::DType::kU8;
  bool narrow_range = false;  // signed storage without its least integer
  bool glow_zero = false;     // compute the zero point from the nearer end, as Glow does
};

// The scheme of a target's activations.
Scheme SchemeOf(const target::Target& target);
// The same with integers of another type.
Scheme SchemeOf(const target::Target& target, ir::DType dtype);
// The scheme of a target's weights.
Scheme WeightSchemeOf(const target::Target& target);

// The least power of two that is at least `scale`.
float RoundUpToPowerOfTwo(float scale);

// The range of integers that a scheme uses.
ir::IntegerRange IntegersOf(const Scheme& scheme);

// Requires finite `min` <= `max`.
Params ChooseParams(float min, float max, const Scheme& scheme);

// The range that a calibration method derives from an entry.  Every method except min/max needs a
// histogram; if the entry has none, the method falls back to its min and max and sets
// `used_min_max`.
struct CalibratedRange {
  float min = 0;
  float max = 0;
  bool used_min_max = false;
};
CalibratedRange Calibrate(const Entry& entry, const Calibration& calibration, const Scheme& scheme);

}  // namespace octavo::profile

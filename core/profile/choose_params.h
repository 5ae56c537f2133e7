// Chooses a scale and a zero point for a range of reals.  Zero is always representable exactly,
// because padding and Relu produce it.  Formulas: arithmetic, "Parameters from a range".
#pragma once

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
  target::Schema schema = target::Schema::kAsymmetric;
  ir::DType dtype = ir::DType::kU8;
  bool narrow_range = false;  // signed storage without its least code
  bool glow_zero = false;     // the zero point follows from the end that is nearer to it, as Glow's
};

// How a target's activations are quantized.
Scheme SchemeOf(const target::Target& target);
// How the target's rule quantizes weights.
Scheme WeightSchemeOf(const target::Target& target);

// The least power of two that is not below the scale.
float RoundUpToPowerOfTwo(float scale);

// The codes that a scheme uses.
ir::CodeRange CodesOf(const Scheme& scheme);

// `min` <= `max`, both finite.
Params ChooseParams(float min, float max, const Scheme& scheme);

// The range that a calibration method makes of an entry: "minmax", "percentile:P", "mse",
// "entropy".  The last three need a histogram and fall back to min and max with
// `used_min_max` set where the entry has none.  kUsage for an unknown method.
struct CalibratedRange {
  float min = 0;
  float max = 0;
  bool used_min_max = false;
};
Result<CalibratedRange> Calibrate(const Entry& entry, std::string_view method,
                                  const Scheme& scheme);
Status CheckCalibration(std::string_view method);

}  // namespace octavo::profile

// Requantization in the modes beside `onnx`: the multipliers of a node's channels, prepared, and
// the formula that turns a sum of codes into a code.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/ir/numerics.h"
#include "core/ops/fixed_point.h"

namespace octavo::runtime {

// One channel's multiplier, in the form that the mode's formula takes.
struct ModeMultiplier {
  ops::FixedPoint fixed = {};         // tflite, tflite-single
  ops::GlowTransform transform = {};  // glow-cpu
  float real = 1;                     // glow-interpreter
  int exponent = 0;                   // pow2
};

// The codes of sums s of x * w, whose reals are s_x * s_w[c] * s.
class ModeRequantizer {
 public:
  // Whether the mode defines the product op for these parameters.
  static bool Defines(ir::Numerics mode, std::string_view op, const ir::Quant& x,
                      const ir::Quant& w, const ir::Quant& y);
  // Whether it does for codes of 16 bits: TFLite's, signed and with zero point 0, by weights of 8
  // (MatMul also by other activations).
  static bool DefinesWide(ir::Numerics mode, std::string_view op, const ir::Type& x,
                          const ir::Type& w, const ir::Type& y);
  ModeRequantizer(ir::Numerics mode, std::string_view op, const ir::Quant& x, const ir::Quant& w,
                  const ir::Type& y, int64_t channels);

  int32_t Code(int64_t sum, int64_t channel) const {
    return ops::ClampCode(steps_(sum, multipliers_[channel], zero_point_), codes_);
  }

 private:
  using Steps = int64_t (*)(int64_t sum, const ModeMultiplier& m, int32_t zero_point);

  std::vector<ModeMultiplier> multipliers_;
  int32_t zero_point_ = 0;
  ir::CodeRange codes_;
  Steps steps_ = nullptr;
};

}  // namespace octavo::runtime

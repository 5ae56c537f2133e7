// What a Rescale makes of one code, in each numerics mode: Quantize(Dequantize(q)) in `onnx` and
// `glow-interpreter`, the family's fixed-point form on q - z elsewhere.
#pragma once

#include <optional>

#include "core/ir/numerics.h"
#include "core/ops/fixed_point.h"

namespace octavo::ops {

// How one channel's codes are read.
struct CodePair {
  float scale = 1;
  int32_t zero_point = 0;
};

// A Rescale of one channel, prepared.  Monotone: a greater code never gives a smaller one.
class CodeRescale {
 public:
  // nullopt where the mode does not define such a Rescale (pow2 with other scales;
  // glow-cpu where the ratio of scales is no normal float).
  static std::optional<CodeRescale> Of(ir::Numerics mode, CodePair from, CodePair to);

  // The code in the result's type, before it is clamped to what that type holds.
  int64_t BeforeClamp(int64_t code) const { return steps_(*this, code); }

 private:
  using Steps = int64_t (*)(const CodeRescale& self, int64_t code);

  static int64_t OnnxSteps(const CodeRescale& self, int64_t code);
  static int64_t GlowInterpreterSteps(const CodeRescale& self, int64_t code);
  static int64_t TfliteSteps(const CodeRescale& self, int64_t code);
  static int64_t TfliteSingleSteps(const CodeRescale& self, int64_t code);
  static int64_t GlowCpuSteps(const CodeRescale& self, int64_t code);
  static int64_t Pow2Steps(const CodeRescale& self, int64_t code);

  CodeRescale(ir::Numerics mode, CodePair from, CodePair to);

  CodePair from_, to_;
  FixedPoint fixed_ = {};
  GlowTransform transform_ = {};
  int exponent_ = 0;
  Steps steps_ = nullptr;
};

}  // namespace octavo::ops

#include "core/ops/code_rescale.h"

#include <algorithm>
#include <cmath>

namespace octavo::ops {
namespace {

using ir::Numerics;

// A whole number, held to what is far past every code.
int64_t Whole(double x) {
  constexpr double kFar = 0x1p52;
  return static_cast<int64_t>(std::clamp(x, -kFar, kFar));
}

float Real(CodePair pair, int64_t code) {
  return static_cast<float>(code - pair.zero_point) * pair.scale;
}

}  // namespace

int64_t CodeRescale::OnnxSteps(const CodeRescale& self, int64_t code) {
  const float steps = std::nearbyint(Real(self.from_, code) / self.to_.scale);
  return Whole(steps) + self.to_.zero_point;
}

// The zero point is added in float32, and then it is rounded.
int64_t CodeRescale::GlowInterpreterSteps(const CodeRescale& self, int64_t code) {
  const float steps = Real(self.from_, code) / self.to_.scale;
  return Whole(std::nearbyint(steps + static_cast<float>(self.to_.zero_point)));
}

int64_t CodeRescale::TfliteSteps(const CodeRescale& self, int64_t code) {
  return int64_t{MultiplyDoubleRounding(code - self.from_.zero_point, self.fixed_)} +
         self.to_.zero_point;
}

int64_t CodeRescale::TfliteSingleSteps(const CodeRescale& self, int64_t code) {
  return int64_t{MultiplySingleRounding(code - self.from_.zero_point, self.fixed_)} +
         self.to_.zero_point;
}

int64_t CodeRescale::GlowCpuSteps(const CodeRescale& self, int64_t code) {
  return int64_t{Transform(code - self.from_.zero_point, self.transform_)} + self.to_.zero_point;
}

int64_t CodeRescale::Pow2Steps(const CodeRescale& self, int64_t code) {
  return int64_t{ShiftRounding(code - self.from_.zero_point, self.exponent_)} + self.to_.zero_point;
}

CodeRescale::CodeRescale(Numerics mode, CodePair from, CodePair to) : from_(from), to_(to) {
  switch (mode) {
    case Numerics::kOnnx:
      steps_ = &OnnxSteps;
      return;
    case Numerics::kGlowInterpreter:
      steps_ = &GlowInterpreterSteps;
      return;
    case Numerics::kTflite:
      fixed_ = ToFixedPoint(double{from.scale} / double{to.scale});
      steps_ = &TfliteSteps;
      return;
    case Numerics::kTfliteSingle:
      fixed_ = ToFixedPoint(double{from.scale} / double{to.scale});
      steps_ = &TfliteSingleSteps;
      return;
    case Numerics::kGlowCpu:
      transform_ = ToGlowTransform(from.scale / to.scale);
      steps_ = &GlowCpuSteps;
      return;
    case Numerics::kPow2:
      exponent_ = ExponentOf(from.scale) - ExponentOf(to.scale);
      steps_ = &Pow2Steps;
      return;
  }
}

std::optional<CodeRescale> CodeRescale::Of(Numerics mode, CodePair from, CodePair to) {
  if (mode == Numerics::kPow2 && !(IsPowerOfTwo(from.scale) && IsPowerOfTwo(to.scale))) {
    return std::nullopt;
  }
  if (mode == Numerics::kGlowCpu && !std::isnormal(from.scale / to.scale)) return std::nullopt;
  return CodeRescale(mode, from, to);
}

}  // namespace octavo::ops

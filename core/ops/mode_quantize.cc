#include "core/ops/mode_quantize.h"

#include <algorithm>
#include <cmath>

#include "core/ops/data_op.h"
#include "core/ops/quantize_math.h"

namespace octavo::ops {
namespace {

using ir::Numerics;

constexpr int64_t kGrain = 1 << 14;  // elements that repay handing a part to another thread

// The code of a real, not yet clamped.  Whole floats and zero points add exactly in double.
using Steps = double (*)(float x, float scale, int32_t zero_point);

double OnnxSteps(float x, float scale, int32_t zero_point) {
  return double{std::nearbyint(x / scale)} + zero_point;
}
double TfliteSteps(float x, float scale, int32_t zero_point) {
  return double{std::round(x / scale)} + zero_point;
}
double GlowSteps(float x, float scale, int32_t zero_point) {
  return std::nearbyint(x / scale + static_cast<float>(zero_point));
}
double Pow2Steps(float x, float scale, int32_t zero_point) {
  return std::floor(double{x} / double{scale} + 0.5) + zero_point;
}

Steps StepsOf(Numerics mode) {
  switch (mode) {
    case Numerics::kOnnx:
      return &OnnxSteps;
    case Numerics::kTflite:
    case Numerics::kTfliteSingle:
      return &TfliteSteps;
    case Numerics::kGlowInterpreter:
    case Numerics::kGlowCpu:
      return &GlowSteps;
    case Numerics::kPow2:
      return &Pow2Steps;
  }
  return nullptr;
}

int32_t CodeOf(Steps steps, float x, float scale, int32_t zero_point, ir::CodeRange codes) {
  const double code = steps(x, scale, zero_point);
  if (std::isnan(code)) return zero_point;
  return static_cast<int32_t>(
      std::clamp(code, static_cast<double>(codes.min), static_cast<double>(codes.max)));
}

}  // namespace

int32_t QuantizeOneIn(Numerics mode, float x, float scale, int32_t zero_point,
                      ir::CodeRange codes) {
  return CodeOf(StepsOf(mode), x, scale, zero_point, codes);
}

void QuantizeIntoIn(Numerics mode, const ir::Tensor& real, const ir::Type& type, ir::Tensor& result,
                    ThreadPool* pool) {
  if (mode == Numerics::kOnnx) return QuantizeInto(real, type, result, pool);
  const ir::Quant& quant = *type.quant;
  const int64_t size = real.size();
  if (size == 0) return;
  const int64_t stride = quant.per_tensor() ? size : ir::StridesOf(real.shape())[*quant.axis];
  const int64_t channels = quant.per_tensor() ? 1 : real.shape()[*quant.axis];
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const Steps steps = StepsOf(mode);
  const float* from = real.values<float>().data();
  VisitDType(type.dtype, [&]<class T>(T) {
    T* to = result.mutable_values<T>().data();
    const auto part = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = i / stride % channels;
        to[i] = static_cast<T>(CodeOf(steps, from[i], quant.scale(c), quant.zero_point(c), codes));
      }
    };
    if (pool == nullptr) return part(0, size);
    pool->For(size, kGrain, part);
  });
}

ir::Tensor QuantizeTensorIn(Numerics mode, const ir::Tensor& real, const ir::Type& type,
                            ThreadPool* pool) {
  ir::Tensor result(type.dtype, real.shape());
  QuantizeIntoIn(mode, real, type, result, pool);
  return result;
}

}  // namespace octavo::ops

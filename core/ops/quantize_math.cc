#include "core/ops/quantize_math.h"

#include <algorithm>
#include <cmath>

#include "core/ops/data_op.h"

namespace octavo::ops {
namespace {

// Runs of elements that share a channel: body(channel, begin, end).
template <class Body>
void ForEachRun(const ir::Shape& shape, const ir::Quant& quant, int64_t size, Body&& body) {
  if (quant.per_tensor()) return body(0, 0, size);
  const int64_t stride = ir::StridesOf(shape)[*quant.axis];
  const int64_t channels = shape[*quant.axis];
  for (int64_t begin = 0, run = 0; begin < size; begin += stride, ++run) {
    body(run % channels, begin, begin + stride);
  }
}

}  // namespace

int32_t QuantizeOne(float x, float scale, int32_t zero_point, ir::CodeRange codes) {
  const float steps = std::nearbyint(x / scale);
  if (std::isnan(steps)) return zero_point;
  // In double a zero point adds without rounding, and the clamp comes before the conversion.
  const double code = std::clamp(double{steps} + zero_point, static_cast<double>(codes.min),
                                 static_cast<double>(codes.max));
  return static_cast<int32_t>(code);
}

void QuantizeInto(const ir::Tensor& real, const ir::Type& type, ir::Tensor& result) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const float* from = real.values<float>().data();
  VisitDType(type.dtype, [&]<class T>(T) {
    T* to = result.mutable_values<T>().data();
    ForEachRun(real.shape(), *type.quant, real.size(),
               [&](int64_t channel, int64_t begin, int64_t end) {
                 const float scale = type.quant->scale(channel);
                 const int32_t zero = type.quant->zero_point(channel);
                 for (int64_t i = begin; i < end; ++i) {
                   to[i] = static_cast<T>(QuantizeOne(from[i], scale, zero, codes));
                 }
               });
  });
}

void DequantizeInto(const ir::Tensor& codes, const ir::Quant& quant, ir::Tensor& result) {
  float* to = result.mutable_values<float>().data();
  VisitDType(codes.dtype(), [&]<class T>(T) {
    const T* from = codes.values<T>().data();
    ForEachRun(codes.shape(), quant, codes.size(),
               [&](int64_t channel, int64_t begin, int64_t end) {
                 const float scale = quant.scale(channel);
                 const int32_t zero = quant.zero_point(channel);
                 for (int64_t i = begin; i < end; ++i) {
                   to[i] = DequantizeOne(static_cast<int32_t>(from[i]), scale, zero);
                 }
               });
  });
}

ir::Tensor QuantizeTensor(const ir::Tensor& real, const ir::Type& type) {
  ir::Tensor result(type.dtype, real.shape());
  QuantizeInto(real, type, result);
  return result;
}

ir::Tensor DequantizeTensor(const ir::Tensor& codes, const ir::Quant& quant) {
  ir::Tensor result(ir::DType::kF32, codes.shape());
  DequantizeInto(codes, quant, result);
  return result;
}

}  // namespace octavo::ops

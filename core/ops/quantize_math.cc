// SPDX-License-Identifier: Apache-2.0
#include "core/ops/quantize_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ir/blocks.h"
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr int64_t kGrain = 1 << 15;  // grain size: minimum elements per task

// Adding and then subtracting this rounds |x| < 2^22 to an integer, ties to even.
constexpr float kRounder = 0x1.8p23f;

// Calls body(channel, begin, end) for each run of elements that share a channel.
template <class Body>
void ForEachRun(const ir::Shape& shape, const ir::Quant& quant, int64_t size, ThreadPool* pool,
                Body&& body) {
  const int64_t stride = quant.per_tensor() ? size : ir::StridesOf(shape)[*quant.axis];
  const int64_t channels = quant.per_tensor() ? 1 : shape[*quant.axis];
  const auto part = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t next = std::min(end, (at / stride + 1) * stride);
      body(at / stride % channels, at, next);
      at = next;
    }
  };
  if (size == 0) return;
  if (pool == nullptr) return part(0, size);
  pool->For(size, kGrain, part);
}

// QuantizeOne of each element.  For types of up to 16 bits, the bounds are exact in float, and
// clamping to integers before rounding gives the same result as clamping after it.
template <class T>
void QuantizeRun(const float* from, int64_t count, float scale, int32_t zero, T* to) {
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
    const auto low = static_cast<float>(std::numeric_limits<T>::min() - zero);
    const auto high = static_cast<float>(std::numeric_limits<T>::max() - zero);
    for (int64_t i = 0; i < count; ++i) {
      float x = from[i] / scale;
      x = x == x ? x : 0.0f;
      x = x > low ? x : low;
      x = x < high ? x : high;
      to[i] = static_cast<T>(static_cast<int32_t>((x + kRounder) - kRounder) + zero);
    }
  } else {
    const ir::IntegerRange range = ir::IntegerRangeOf(ir::DTypeOf<T>());
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<T>(QuantizeOne(from[i], scale, zero, range));
    }
  }
}

template <class T>
void DequantizeRun(const T* from, int64_t count, float scale, int32_t zero, float* to) {
  // Computes differences below 2^31 in 32 bits, because vector instructions exist for them.
  using Wide = std::conditional_t<sizeof(T) <= 2, int32_t, int64_t>;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(static_cast<Wide>(from[i]) - zero) * scale;
  }
}

// Calls body(first, step, begin, end) for runs of elements, of which element begin + i has the
// scale first + i * step: those of one block if the axis is the last one, else those of one row.
template <class Body>
void ForEachBlockRun(const ir::Blocks& blocks, int64_t size, ThreadPool* pool, Body&& body) {
  const bool last = blocks.inner == 1;
  const auto part = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t rest = last ? std::min(blocks.size - at % blocks.extent % blocks.size,
                                           blocks.extent - at % blocks.extent)
                                : blocks.inner - at % blocks.inner;
      const int64_t next = std::min(end, at + rest);
      body(blocks.ScaleOf(at), last ? 0 : 1, at, next);
      at = next;
    }
  };
  if (size == 0) return;
  if (pool == nullptr) return part(0, size);
  pool->For(size, kGrain, part);
}

// Every numerics mode rounds the weights of blocks alike, since none computes with their integers.
void QuantizeBlocks(const ir::Tensor& real, const ir::Type& type, ir::Tensor& result,
                    ThreadPool* pool) {
  const ir::Quant& quant = *type.quant;
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const float* from = real.values<float>().data();
  VisitDType(type.dtype, [&]<class T>(T) {
    T* to = result.mutable_values<T>().data();
    ForEachBlockRun(ir::Blocks::Of(quant, real.shape()), real.size(), pool,
                    [&](int64_t first, int64_t step, int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        const auto at = static_cast<size_t>(first + (i - begin) * step);
                        to[i] = static_cast<T>(
                            QuantizeOne(from[i], quant.scales[at], quant.zero_points[at], range));
                      }
                    });
  });
}

void DequantizeBlocks(const ir::Tensor& quantized, const ir::Quant& quant, ir::Tensor& result,
                      ThreadPool* pool) {
  float* to = result.mutable_values<float>().data();
  VisitDType(quantized.dtype(), [&]<class T>(T) {
    using Wide = std::conditional_t<sizeof(T) <= 2, int32_t, int64_t>;
    const T* from = quantized.values<T>().data();
    ForEachBlockRun(ir::Blocks::Of(quant, quantized.shape()), quantized.size(), pool,
                    [&](int64_t first, int64_t step, int64_t begin, int64_t end) {
                      const float* scale = quant.scales.data() + first;
                      const int32_t* zero = quant.zero_points.data() + first;
                      for (int64_t i = 0; i < end - begin; ++i) {
                        const Wide value = static_cast<Wide>(from[begin + i]) - zero[i * step];
                        to[begin + i] = static_cast<float>(value) * scale[i * step];
                      }
                    });
  });
}

}  // namespace

int32_t QuantizeOne(float x, float scale, int32_t zero_point, ir::IntegerRange range) {
  return numerics::QuantizeOne(numerics::kOnnx.quantize, x, {scale, zero_point}, range);
}

void QuantizeInto(const ir::Tensor& real, const ir::Type& type, ir::Tensor& result,
                  ThreadPool* pool) {
  if (type.blocked()) return QuantizeBlocks(real, type, result, pool);
  const float* from = real.values<float>().data();
  VisitDType(type.dtype, [&]<class T>(T) {
    T* to = result.mutable_values<T>().data();
    ForEachRun(real.shape(), *type.quant, real.size(), pool,
               [&](int64_t channel, int64_t begin, int64_t end) {
                 QuantizeRun(from + begin, end - begin, type.quant->scale(channel),
                             type.quant->zero_point(channel), to + begin);
               });
  });
}

void DequantizeInto(const ir::Tensor& quantized, const ir::Quant& quant, ir::Tensor& result,
                    ThreadPool* pool) {
  if (quant.blocked()) return DequantizeBlocks(quantized, quant, result, pool);
  float* to = result.mutable_values<float>().data();
  VisitDType(quantized.dtype(), [&]<class T>(T) {
    const T* from = quantized.values<T>().data();
    ForEachRun(quantized.shape(), quant, quantized.size(), pool,
               [&](int64_t channel, int64_t begin, int64_t end) {
                 DequantizeRun(from + begin, end - begin, quant.scale(channel),
                               quant.zero_point(channel), to + begin);
               });
  });
}

void QuantizeInto(numerics::QuantizeFunction quantize, const ir::Tensor& real, const ir::Type& type,
                  ir::Tensor& result, ThreadPool* pool) {
  if (quantize == numerics::kOnnx.quantize || type.blocked()) {
    return QuantizeInto(real, type, result, pool);
  }
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const float* from = real.values<float>().data();
  VisitDType(type.dtype, [&]<class T>(T) {
    T* to = result.mutable_values<T>().data();
    ForEachRun(real.shape(), *type.quant, real.size(), pool,
               [&](int64_t channel, int64_t begin, int64_t end) {
                 const auto quant = numerics::ChannelQuant::Of(type, channel);
                 for (int64_t i = begin; i < end; ++i) {
                   to[i] = static_cast<T>(numerics::QuantizeOne(quantize, from[i], quant, range));
                 }
               });
  });
}

ir::Tensor QuantizeTensor(numerics::QuantizeFunction quantize, const ir::Tensor& real,
                          const ir::Type& type, ThreadPool* pool) {
  ir::Tensor result(type.dtype, real.shape());
  QuantizeInto(quantize, real, type, result, pool);
  return result;
}

ir::Tensor QuantizeTensor(const ir::Tensor& real, const ir::Type& type, ThreadPool* pool) {
  ir::Tensor result(type.dtype, real.shape());
  QuantizeInto(real, type, result, pool);
  return result;
}

ir::Tensor DequantizeTensor(const ir::Tensor& quantized, const ir::Quant& quant, ThreadPool* pool) {
  ir::Tensor result(ir::DType::kF32, quantized.shape());
  DequantizeInto(quantized, quant, result, pool);
  return result;
}

}  // namespace octavo::ops

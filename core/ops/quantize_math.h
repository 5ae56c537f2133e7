// SPDX-License-Identifier: Apache-2.0
// Quantizes and dequantizes tensors: in the numerics mode `onnx` by vector loops, in any other mode
// by its Quantize function (core/numerics/mode.h).
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"
#include "core/numerics/mode.h"

namespace octavo::ops {

// clamp(round_half_even(x / scale) + zero_point); NaN gives zero_point, infinities saturate.
int32_t QuantizeOne(float x, float scale, int32_t zero_point, ir::IntegerRange range);
// (value - zero_point) * scale, in float32.
inline float DequantizeOne(int32_t value, float scale, int32_t zero_point) {
  return static_cast<float>(static_cast<int64_t>(value) - zero_point) * scale;
}

// Whole tensors; `type` specifies dtype and quantization: per-tensor, per-axis or in blocks.
// Shapes must agree.
// Without a pool, only the calling thread works.
ir::Tensor QuantizeTensor(const ir::Tensor& real, const ir::Type& type, ThreadPool* pool = nullptr);
ir::Tensor DequantizeTensor(const ir::Tensor& quantized, const ir::Quant& quant,
                            ThreadPool* pool = nullptr);
// The same, into a preallocated `result` of the right type and size.
void QuantizeInto(const ir::Tensor& real, const ir::Type& type, ir::Tensor& result,
                  ThreadPool* pool = nullptr);
void DequantizeInto(const ir::Tensor& quantized, const ir::Quant& quant, ir::Tensor& result,
                    ThreadPool* pool = nullptr);

// The same in another numerics mode, by its Quantize function, except of blocks, which every mode
// rounds as `onnx` does.  Dequantization is the same in all modes.
ir::Tensor QuantizeTensor(numerics::QuantizeFunction quantize, const ir::Tensor& real,
                          const ir::Type& type, ThreadPool* pool = nullptr);
void QuantizeInto(numerics::QuantizeFunction quantize, const ir::Tensor& real, const ir::Type& type,
                  ir::Tensor& result, ThreadPool* pool = nullptr);

}  // namespace octavo::ops

// Codes from reals and back, in the numerics mode `onnx`: the one place that says how a real is
// rounded to a code.
#pragma once

#include <span>

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::ops {

// clamp(round_half_even(x / scale) + zero_point); NaN gives zero_point, infinities saturate.
int32_t QuantizeOne(float x, float scale, int32_t zero_point, ir::CodeRange codes);
// (code - zero_point) * scale, in float32.
inline float DequantizeOne(int32_t code, float scale, int32_t zero_point) {
  return static_cast<float>(static_cast<int64_t>(code) - zero_point) * scale;
}

// Whole tensors; `type` gives dtype and quantization (per-tensor, per-axis), shapes agree.  Without
// a pool the caller alone works.
ir::Tensor QuantizeTensor(const ir::Tensor& real, const ir::Type& type, ThreadPool* pool = nullptr);
ir::Tensor DequantizeTensor(const ir::Tensor& codes, const ir::Quant& quant,
                            ThreadPool* pool = nullptr);
// In place of the allocating forms; `result` has the right type and size.
void QuantizeInto(const ir::Tensor& real, const ir::Type& type, ir::Tensor& result,
                  ThreadPool* pool = nullptr);
void DequantizeInto(const ir::Tensor& codes, const ir::Quant& quant, ir::Tensor& result,
                    ThreadPool* pool = nullptr);

}  // namespace octavo::ops

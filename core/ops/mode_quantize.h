// Codes from reals in any numerics mode.  Dequantizing is the same in all of them.
//
//   onnx    clamp(rne(x / s) + z)
//   tflite, tflite-single    clamp(round_half_away(x / s) + z)
//   glow-interpreter, glow-cpu    clamp(rne(x / s + z)), the sum in float32
//   pow2    clamp(floor(x / s + 1/2) + z), its shifts' ties: to +infinity
//
// NaN gives z, infinities saturate.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/numerics.h"
#include "core/ir/tensor.h"

namespace octavo::ops {

int32_t QuantizeOneIn(ir::Numerics mode, float x, float scale, int32_t zero_point,
                      ir::CodeRange codes);

// A whole tensor; `type` gives dtype and quantization, shapes agree.
ir::Tensor QuantizeTensorIn(ir::Numerics mode, const ir::Tensor& real, const ir::Type& type,
                            ThreadPool* pool = nullptr);
void QuantizeIntoIn(ir::Numerics mode, const ir::Tensor& real, const ir::Type& type,
                    ir::Tensor& result, ThreadPool* pool = nullptr);

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// Mode `onnx`: ONNX's QLinear operators as ONNX Runtime's CPU kernels compute them.
//
//   Quantize  clamp(rne(x / s) + z)
//   products  clamp(rne(float(sum) * m) + z), m = (s_x * s_w) / s_y in float32; implemented by the
//             runtime's kernels, core/runtime/kernels/shared/requantize.h
//   others    Quantize(op(Dequantize))
#include "core/numerics/formulas.h"

namespace octavo::numerics {
namespace {

RescaleFormula Rescale(ChannelQuant from, ChannelQuant to) {
  return RescaleThroughFloat(&QuantizeToEven, from, to);
}

}  // namespace

extern constexpr Mode kOnnx{.name = "onnx",
                            .quantize = &QuantizeToEven,
                            .rescale = &Rescale,
                            .qlinear = true,
                            .rescale_is_quantize_of_dequantize = true};

}  // namespace octavo::numerics

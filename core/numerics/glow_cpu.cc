// SPDX-License-Identifier: Apache-2.0
// Mode `glow-cpu`: Glow's CPU (LLVM) backend.  A multiplier is a 32-bit scale between two shifts:
// the first shift truncates, the second rounds half up.
#include <cmath>

#include "core/numerics/formulas.h"
#include "core/numerics/glow.h"

namespace octavo::numerics {
namespace {

RescaleFormula Rescale(ChannelQuant from, ChannelQuant to) {
  const float ratio = from.scale / to.scale;
  if (!std::isnormal(ratio)) return {};
  return [m = ToGlowTransform(ratio), x_zero = from.zero_point, y_zero = to.zero_point](
             int64_t value) { return int64_t{Transform(value - x_zero, m)} + y_zero; };
}

RequantizeFormula Requantize(const ProductQuant& quant) {
  return [m = ToGlowTransform(quant.x * quant.w / quant.y),
          offset = quant.zero_point](int64_t sum) { return int64_t{Transform(sum, m)} + offset; };
}

// Each operand has its own transform; the results are summed.
template <int kSign>
BinaryFormula AddOrSubtract(const BinaryTypes& types) {
  const float out = types.y.quant->scale();
  return [by_a = ToGlowTransform(types.a.quant->scale() / out),
          by_b = ToGlowTransform(types.b.quant->scale() / out), to = ChannelQuant::Of(types.y),
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t a, int32_t b) {
    return Stored(int64_t{Transform(a, by_a)} + kSign * Transform(b, by_b), to, range);
  };
}

BinaryFormula Multiplied(const BinaryTypes& types) {
  return Multiply(Requantize(ProductOf(types)), types.y);
}

// The scale includes the window's size, so all windows must have the same size.
PoolFormula AveragePool(const ir::Type& x, const ir::Type& y, const PoolWindows& windows) {
  if (!windows.one_count) return {};
  const float ratio = x.quant->scale() / y.quant->scale();
  return [m = ToGlowTransform(ratio / static_cast<float>(windows.count)), to = ChannelQuant::Of(y),
          range = ir::IntegerRangeOf(y.dtype)](const PoolSum& window) {
    return Stored(Transform(window.sum, m), to, range);
  };
}

constexpr ProductRow kProducts[] = {
    {"Conv", &Requantize}, {"Gemm", &Requantize}, {"MatMul", &Requantize}};
constexpr BinaryRow kBinary[] = {{"Add", &AddOrSubtract<1>},
                                 {"Sub", &AddOrSubtract<-1>},
                                 {"Mul", &Multiplied},
                                 {"Max", &RescaleAndChoose<Greater, &Rescale>},
                                 {"Min", &RescaleAndChoose<Lesser, &Rescale>}};

}  // namespace

extern constexpr Mode kGlowCpu{.name = "glow-cpu",
                               .quantize = &GlowQuantize,
                               .rescale = &Rescale,
                               .products = kProducts,
                               .binary = kBinary,
                               .average_pool = &AveragePool,
                               .tables = {.inputs = &GlowTableInputs, .quantize = &GlowQuantize},
                               .rounds_beyond_half = true,
                               .clips_in_operand_type = true,
                               .glow_zero_points = true};

}  // namespace octavo::numerics

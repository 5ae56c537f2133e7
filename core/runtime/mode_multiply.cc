// Mul in the modes beside `onnx`: the product of centered codes, requantized as sums of products
// are, with the multiplier s_a * s_b / s_y.
#include "core/runtime/mode_binary.h"
#include "core/runtime/mode_requantize.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

BinaryFormula Multiply(Numerics mode, const BinaryTypes& types) {
  if (!ModeRequantizer::Defines(mode, "Mul", *types.a.quant, *types.b.quant, *types.y.quant)) {
    return {};
  }
  if (types.AreWide() && !types.AreSymmetric()) return {};
  const ModeRequantizer requantize(mode, "Mul", *types.a.quant, *types.b.quant, types.y, 1);
  return [requantize](int32_t a, int32_t b) { return requantize.Code(int64_t{a} * b, 0); };
}

constexpr BinaryRow kRows[] = {
    {Numerics::kTflite, "Mul", &Multiply},
    {Numerics::kTfliteSingle, "Mul", &Multiply},
    {Numerics::kGlowInterpreter, "Mul", &Multiply},
    {Numerics::kGlowCpu, "Mul", &Multiply},
    {Numerics::kPow2, "Mul", &Multiply},
};

}  // namespace

std::span<const BinaryRow> MultiplyRows() { return kRows; }

}  // namespace octavo::runtime

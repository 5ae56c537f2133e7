// Max and Min of two operands in the modes beside `onnx`.  Codes of one type are compared as they
// are; where a mode defines other types, each operand is brought to the result's type first.
#include <algorithm>

#include "core/runtime/kernel.h"
#include "core/runtime/mode_binary.h"
#include "core/runtime/mode_rescale.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

struct Greatest {
  int32_t operator()(int32_t a, int32_t b) const { return std::max(a, b); }
};
struct Least {
  int32_t operator()(int32_t a, int32_t b) const { return std::min(a, b); }
};

// TFLite's Maximum and Minimum take one type.
template <class Choose>
BinaryFormula Tflite(Numerics, const BinaryTypes& types) {
  if (!SameCodes(types.a, types.y) || !SameCodes(types.b, types.y)) return {};
  return
      [zero = types.y.quant->zero_point()](int32_t a, int32_t b) { return Choose()(a, b) + zero; };
}

// The mode's own Rescale of each side, then the choice.
template <class Choose>
BinaryFormula Rescaled(Numerics mode, const BinaryTypes& types) {
  if (!ModeRescaler::Defines(mode, types.a, types.y) ||
      !ModeRescaler::Defines(mode, types.b, types.y)) {
    return {};
  }
  return
      [left = ModeRescaler(mode, types.a, types.y), right = ModeRescaler(mode, types.b, types.y),
       a_zero = types.a.quant->zero_point(), b_zero = types.b.quant->zero_point()](
          int32_t a, int32_t b) { return Choose()(left.Code(a + a_zero), right.Code(b + b_zero)); };
}

constexpr BinaryRow kRows[] = {
    {Numerics::kTflite, "Max", &Tflite<Greatest>},
    {Numerics::kTflite, "Min", &Tflite<Least>},
    {Numerics::kTfliteSingle, "Max", &Tflite<Greatest>},
    {Numerics::kTfliteSingle, "Min", &Tflite<Least>},
    {Numerics::kGlowInterpreter, "Max", &Rescaled<Greatest>},
    {Numerics::kGlowInterpreter, "Min", &Rescaled<Least>},
    {Numerics::kGlowCpu, "Max", &Rescaled<Greatest>},
    {Numerics::kGlowCpu, "Min", &Rescaled<Least>},
    {Numerics::kPow2, "Max", &Rescaled<Greatest>},
    {Numerics::kPow2, "Min", &Rescaled<Least>},
};

}  // namespace

std::span<const BinaryRow> ExtremeRows() { return kRows; }

}  // namespace octavo::runtime

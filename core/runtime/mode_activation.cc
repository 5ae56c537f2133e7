// LeakyRelu and HardSwish of 8-bit codes in tflite and tflite-single: TFLite's integer reference
// operators.
#include <algorithm>
#include <limits>

#include "core/ops/fixed_point.h"
#include "core/runtime/code_table.h"
#include "core/runtime/product.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

constexpr std::string_view kLeakyReluOps[] = {"LeakyRelu"};
constexpr std::string_view kHardSwishOps[] = {"HardSwish"};
constexpr ir::NumericsSet kTfliteModes = Only(Numerics::kTflite) | Only(Numerics::kTfliteSingle);

bool IsPlainOfOneKind(const NodeView& view) {
  return IsPlain8(view.in(0)) && IsPlain8(view.out()) && view.in(0).dtype == view.out().dtype;
}

// ---------------------------------------------------------------- LeakyRelu

float AlphaOf(const NodeView& view) { return view.node.attributes.Float("alpha", 0.01f); }

bool MatchLeakyRelu(const NodeView& view) { return IsPlainOfOneKind(view) && AlphaOf(view) >= 0; }

// Either side of zero by a multiplier of its own, whose real is computed in float32.
Result<Prepared> PrepareLeakyRelu(const NodeView& view, ThreadPool&) {
  const float from = view.in(0).quant->scale(), to = view.out().quant->scale();
  const ops::FixedPoint above = ops::ToFixedPoint(from / to);
  const ops::FixedPoint below = ops::ToFixedPoint(from * AlphaOf(view) / to);
  const auto multiply = view.numerics == Numerics::kTflite ? &ops::MultiplyDoubleRounding
                                                           : &ops::MultiplySingleRounding;
  const ir::CodeRange codes = ir::CodesOf(view.out().dtype);
  return LookUp(view, OfAllCodes(view.in(0), [&](int32_t code) {
                  const int32_t x = code - view.in(0).quant->zero_point();
                  const int64_t y = multiply(x, x >= 0 ? above : below);
                  return ops::ClampCode(y + view.out().quant->zero_point(), codes);
                }));
}

// ---------------------------------------------------------------- HardSwish

int16_t Held16(int64_t x) {
  return static_cast<int16_t>(std::clamp<int64_t>(x, std::numeric_limits<int16_t>::min(), 0x7FFF));
}

// a * b * 2^-15, ties away from zero but for the sign's own half; and towards zero.
int16_t HighProduct(int16_t a, int16_t b) {
  const int32_t product = int32_t{a} * b;
  return Held16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}
int16_t HighProductTowardsZero(int16_t a, int16_t b) { return Held16(int32_t{a} * b / (1 << 15)); }

// A multiplier of 16 bits.
struct FixedPoint16 {
  int16_t multiplier = 0;
  int shift = 0;
};

FixedPoint16 ToFixedPoint16(float m) {
  constexpr int32_t kHalf = 1 << 15;
  const ops::FixedPoint wide = ops::ToFixedPoint(m);
  const bool most = wide.multiplier >= std::numeric_limits<int32_t>::max() - kHalf;
  return {most ? int16_t{0x7FFF} : static_cast<int16_t>((wide.multiplier + kHalf) >> 16),
          wide.shift};
}

// x at 128 times its resolution; y = x * relu6(x + 3) / 6 as a product of two numbers of 16 bits.
struct HardSwish {
  FixedPoint16 to_result, to_gate;

  HardSwish(const ir::Type& from, const ir::Type& to) {
    const float fine = 1.0f / 128.0f * from.quant->scale();
    to_result = ToFixedPoint16(fine / to.quant->scale());
    to_gate = ToFixedPoint16(fine / (3.0f / 32768.0f));
  }

  // TFLite refuses a result finer than the shift can say; past 15 bits a shift of 16 has no
  // meaning.
  bool Defined() const {
    return to_result.shift <= 0 && to_result.shift >= -15 && to_gate.shift >= -15 &&
           to_gate.shift <= 30;
  }

  // x in [-3, 3] as [0, 1] of 15 bits, held there beyond.
  int16_t Gate(int16_t fine) const {
    int16_t gate = fine;
    if (to_gate.shift > 0) gate = Held16(int64_t{gate} << (to_gate.shift - 1));
    gate = HighProduct(gate, to_gate.multiplier);
    if (to_gate.shift > 0) gate = Held16(int64_t{gate} * 2);
    if (to_gate.shift < 0) {
      gate = static_cast<int16_t>(ops::RoundingShiftRight(gate, -to_gate.shift));
    }
    return static_cast<int16_t>((int32_t{gate} + (1 << 15)) >> 1);
  }

  int32_t Steps(int32_t x) const {
    const auto fine = static_cast<int16_t>(x * (1 << 7));
    const int16_t scaled = HighProduct(fine, to_result.multiplier);
    return ops::RoundingShiftRight(HighProductTowardsZero(Gate(fine), scaled), -to_result.shift);
  }
};

bool MatchHardSwish(const NodeView& view) {
  return IsPlainOfOneKind(view) && HardSwish(view.in(0), view.out()).Defined();
}

Result<Prepared> PrepareHardSwish(const NodeView& view, ThreadPool&) {
  const HardSwish swish(view.in(0), view.out());
  const ir::CodeRange codes = ir::CodesOf(view.out().dtype);
  return LookUp(view, OfAllCodes(view.in(0), [&](int32_t code) {
                  // The sum with the zero point is one of 16 bits.
                  const auto y =
                      static_cast<int16_t>(swish.Steps(code - view.in(0).quant->zero_point()) +
                                           view.out().quant->zero_point());
                  return ops::ClampCode(y, codes);
                }));
}

}  // namespace

extern constexpr Kernel kModeLeakyRelu{.name = "mode-leaky-relu",
                                       .ops = kLeakyReluOps,
                                       .layout = LayoutRule::kEither,
                                       .numerics = kTfliteModes,
                                       .match = &MatchLeakyRelu,
                                       .prepare = &PrepareLeakyRelu};

extern constexpr Kernel kModeHardSwish{.name = "mode-hard-swish",
                                       .ops = kHardSwishOps,
                                       .layout = LayoutRule::kEither,
                                       .numerics = kTfliteModes,
                                       .match = &MatchHardSwish,
                                       .prepare = &PrepareHardSwish};

}  // namespace octavo::runtime

// Quantize and Rescale of per-tensor 8-bit codes in the modes beside `onnx`.
#include <array>
#include <cmath>

#include "core/ops/quantize_math.h"
#include "core/runtime/kernel.h"
#include "core/runtime/mode_requantize.h"
#include "core/runtime/product.h"
#include "core/runtime/row_codes.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

constexpr std::string_view kQuantizeOps[] = {"Quantize"};
constexpr std::string_view kRescaleOps[] = {"Rescale"};

bool IsGlow(Numerics mode) {
  return mode == Numerics::kGlowInterpreter || mode == Numerics::kGlowCpu;
}

// A real as a code; NaN gives the zero point.
struct ModeQuantizer {
  float scale = 1;
  int32_t zero_point = 0;
  ir::CodeRange codes;
  double (*round)(float x, float scale, int32_t zero_point) = nullptr;

  int32_t Code(float x) const {
    if (std::isnan(x)) return zero_point;
    return static_cast<int32_t>(std::clamp(round(x, scale, zero_point),
                                           static_cast<double>(codes.min),
                                           static_cast<double>(codes.max)));
  }
};
// TFLite: round_half_away(x / s) + z.
double RoundTflite(float x, float scale, int32_t zero_point) {
  return double{std::round(x / scale)} + zero_point;
}
// Glow: rne(x / s + z), the sum in float32.
double RoundGlow(float x, float scale, int32_t zero_point) {
  return std::nearbyint(x / scale + static_cast<float>(zero_point));
}

ModeQuantizer QuantizerOf(Numerics mode, const ir::Type& type) {
  return {.scale = type.quant->scale(),
          .zero_point = type.quant->zero_point(),
          .codes = ir::CodesOf(type.dtype),
          .round = IsGlow(mode) ? &RoundGlow : &RoundTflite};
}

// Arithmetic defines Quantize in these modes; pow2's is not said.
bool MatchQuantize(const NodeView& view) {
  return view.in(0).dtype == ir::DType::kF32 && !view.in(0).quantized() && IsPlain8(view.out());
}

Result<Prepared> PrepareQuantize(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [quantizer = QuantizerOf(view.numerics, view.out())](
                             const StepContext& context) -> Status {
    const float* x = context.in(0).values<float>().data();
    context.pool->For(context.out().size(), kRowGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) StoreCode(context.out(), i, quantizer.Code(x[i]));
    });
    return {};
  }};
}

bool MatchRescale(const NodeView& view) {
  if (!IsPlain8(view.in(0)) || !IsPlain8(view.out())) return false;
  return view.numerics != Numerics::kPow2 || (ops::IsPowerOfTwo(view.in(0).quant->scale()) &&
                                              ops::IsPowerOfTwo(view.out().quant->scale()));
}

// Quantize(Dequantize(q)) in glow-interpreter, the family's fixed point on q - z elsewhere.
int32_t RescaledCode(const NodeView& view, const ModeRequantizer* fixed, int32_t code) {
  const ir::Quant& from = *view.in(0).quant;
  if (fixed != nullptr) return fixed->Code(int64_t{code} - from.zero_point(), 0);
  return QuantizerOf(view.numerics, view.out())
      .Code(ops::DequantizeOne(code, from.scale(), from.zero_point()));
}

Result<Prepared> PrepareRescale(const NodeView& view, ThreadPool&) {
  std::optional<ModeRequantizer> fixed;
  if (view.numerics != Numerics::kGlowInterpreter) {
    fixed.emplace(view.numerics, *view.in(0).quant, view.out());
  }
  const ir::Type& from = view.in(0);
  std::array<uint8_t, 256> table{};  // by the byte that a code is stored as
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t code = from.dtype == ir::DType::kI8 ? static_cast<int8_t>(byte) : byte;
    table[byte] = static_cast<uint8_t>(RescaledCode(view, fixed ? &*fixed : nullptr, code));
  }
  return Prepared{.run = [table](const StepContext& context) -> Status {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    context.pool->For(context.out().size(), kRowGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = table[x[i]];
    });
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kModeQuantize{
    .name = "mode-quantize",
    .ops = kQuantizeOps,
    .layout = LayoutRule::kEither,
    .numerics = ir::kNumericsBesideOnnx & ~ir::Only(ir::Numerics::kPow2),
    .match = &MatchQuantize,
    .prepare = &PrepareQuantize};

extern constexpr Kernel kModeRescale{.name = "mode-rescale",
                                     .ops = kRescaleOps,
                                     .layout = LayoutRule::kEither,
                                     .numerics = ir::kNumericsBesideOnnx,
                                     .match = &MatchRescale,
                                     .prepare = &PrepareRescale};

}  // namespace octavo::runtime

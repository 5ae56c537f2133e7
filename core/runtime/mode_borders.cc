// Quantize, Rescale, Relu and Clip in the modes beside `onnx`.
#include <algorithm>

#include "core/ops/fixed_point.h"
#include "core/ops/mode_quantize.h"
#include "core/runtime/code_table.h"
#include "core/runtime/mode_rescale.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

constexpr std::string_view kQuantizeOps[] = {"Quantize"};
constexpr std::string_view kRescaleOps[] = {"Rescale"};
constexpr std::string_view kReluOps[] = {"Relu"};
constexpr std::string_view kClipOps[] = {"Clip"};

// pow2 knows no other scales.
bool DefinesScales(Numerics mode, const ir::Quant& quant) {
  return mode != Numerics::kPow2 || std::ranges::all_of(quant.scales, &ops::IsPowerOfTwo);
}

bool MatchQuantize(const NodeView& view) {
  return view.in(0).dtype == ir::DType::kF32 && !view.in(0).quantized() && view.out().quantized() &&
         DefinesScales(view.numerics, *view.out().quant);
}

Result<Prepared> PrepareQuantize(const NodeView& view, ThreadPool&) {
  return Prepared{
      .run = [mode = view.numerics, type = view.out()](const StepContext& context) -> Status {
        ops::QuantizeIntoIn(mode, context.in(0), type, context.out(), context.pool);
        return {};
      }};
}

bool MatchRescale(const NodeView& view) {
  return ModeRescaler::Defines(view.numerics, view.in(0), view.out());
}

Result<Prepared> PrepareRescale(const NodeView& view, ThreadPool&) {
  const ModeRescaler rescaler(view.numerics, view.in(0), view.out());
  return LookUp(view, OfAllCodes(view.in(0), [&](int32_t code) { return rescaler.Code(code); }));
}

// A clamp: the Rescale to the result's type, held between the codes of the bounds.
std::vector<int32_t> Clamped(const NodeView& view, int32_t least, int32_t most) {
  const ModeRescaler rescaler(view.numerics, view.in(0), view.out());
  return OfAllCodes(view.in(0), [&](int32_t code) {
    return std::min(std::max(rescaler.Code(code), least), most);
  });
}

Result<Prepared> PrepareRelu(const NodeView& view, ThreadPool&) {
  const auto most = static_cast<int32_t>(ir::CodesOf(view.out().dtype).max);
  return LookUp(view, Clamped(view, view.out().quant->zero_point(), most));
}

bool MatchClip(const NodeView& view) {
  for (size_t i = 1; i < view.node.inputs.size(); ++i) {
    if (view.Has(i) && (view.constant(i) == nullptr || view.in(i).quantized())) return false;
  }
  return MatchRescale(view);
}

Result<Prepared> PrepareClip(const NodeView& view, ThreadPool&) {
  const ir::CodeRange codes = ir::CodesOf(view.out().dtype);
  const ir::Quant& to = *view.out().quant;
  const auto bound = [&](size_t input, int64_t none) {
    if (!view.Has(input)) return static_cast<int32_t>(none);
    const auto real = static_cast<float>(view.constant(input)->FloatAt(0));
    return ops::QuantizeOneIn(view.numerics, real, to.scale(), to.zero_point(), codes);
  };
  return LookUp(view, Clamped(view, bound(1, codes.min), bound(2, codes.max)));
}

}  // namespace

extern constexpr Kernel kModeQuantize{.name = "mode-quantize",
                                      .ops = kQuantizeOps,
                                      .numerics = ir::kNumericsBesideOnnx,
                                      .match = &MatchQuantize,
                                      .prepare = &PrepareQuantize};

extern constexpr Kernel kModeRescale{.name = "mode-rescale",
                                     .ops = kRescaleOps,
                                     .layout = LayoutRule::kEither,
                                     .numerics = ir::kNumericsBesideOnnx,
                                     .match = &MatchRescale,
                                     .prepare = &PrepareRescale};

extern constexpr Kernel kModeRelu{.name = "mode-relu",
                                  .ops = kReluOps,
                                  .layout = LayoutRule::kEither,
                                  .numerics = ir::kNumericsBesideOnnx,
                                  .match = &MatchRescale,
                                  .prepare = &PrepareRelu};

extern constexpr Kernel kModeClip{.name = "mode-clip",
                                  .ops = kClipOps,
                                  .layout = LayoutRule::kEither,
                                  .numerics = ir::kNumericsBesideOnnx,
                                  .images = 1,
                                  .match = &MatchClip,
                                  .prepare = &PrepareClip};

}  // namespace octavo::runtime

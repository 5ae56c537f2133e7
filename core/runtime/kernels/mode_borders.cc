// SPDX-License-Identifier: Apache-2.0
// Quantize, Rescale, Relu and Clip in the numerics modes that are not `qlinear`.
#include <algorithm>

#include "core/ops/quantize_math.h"
#include "core/runtime/kernels/mode_rescale.h"
#include "core/runtime/kernels/shared/value_table.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kQuantizeOps[] = {"Quantize"};
constexpr std::string_view kRescaleOps[] = {"Rescale"};
constexpr std::string_view kReluOps[] = {"Relu"};
constexpr std::string_view kClipOps[] = {"Clip"};

bool MatchQuantize(const NodeView& view) {
  return view.in(0).dtype == ir::DType::kF32 && !view.in(0).quantized() && view.out().quantized() &&
         numerics::DefinesScales(*view.numerics, *view.out().quant);
}

Result<Prepared> PrepareQuantize(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [quantize = view.numerics->quantize,
                          type = view.out()](const StepContext& context) -> Status {
    ops::QuantizeInto(quantize, context.in(0), type, context.out(), context.pool);
    return {};
  }};
}

bool MatchRescale(const NodeView& view) {
  return ModeRescaler::Of(*view.numerics, view.in(0), view.out()).has_value();
}

Result<Prepared> PrepareRescale(const NodeView& view, ThreadPool&) {
  const ModeRescaler rescaler = *ModeRescaler::Of(*view.numerics, view.in(0), view.out());
  return LookUp(view, Tabulate(view.in(0), [&](int32_t q) { return rescaler.Value(q); }));
}

// The Rescale to the result's type, clamped to the quantized bounds.
std::vector<int32_t> Clamped(const NodeView& view, int32_t least, int32_t most) {
  const ModeRescaler rescaler = *ModeRescaler::Of(*view.numerics, view.in(0), view.out());
  return Tabulate(view.in(0),
                  [&](int32_t q) { return std::min(std::max(rescaler.Value(q), least), most); });
}

Result<Prepared> PrepareRelu(const NodeView& view, ThreadPool&) {
  const auto most = static_cast<int32_t>(ir::IntegerRangeOf(view.out().dtype).max);
  return LookUp(view, Clamped(view, view.out().quant->zero_point(), most));
}

bool MatchClip(const NodeView& view) {
  for (size_t i = 1; i < view.node.inputs.size(); ++i) {
    if (view.Has(i) && (view.constant(i) == nullptr || view.in(i).quantized())) return false;
  }
  return MatchRescale(view);
}

Result<Prepared> PrepareClip(const NodeView& view, ThreadPool&) {
  const ir::IntegerRange range = ir::IntegerRangeOf(view.out().dtype);
  const auto bound = [&](size_t input, int64_t none) {
    if (!view.Has(input)) return static_cast<int32_t>(none);
    const auto real = static_cast<float>(view.constant(input)->FloatAt(0));
    return numerics::QuantizeOne(view.numerics->quantize, real,
                                 numerics::ChannelQuant::Of(view.out()), range);
  };
  return LookUp(view, Clamped(view, bound(1, range.min), bound(2, range.max)));
}

}  // namespace

extern constexpr Kernel kModeQuantize{.name = "mode-quantize",
                                      .ops = kQuantizeOps,
                                      .modes = Modes::kWithFormulas,
                                      .match = &MatchQuantize,
                                      .prepare = &PrepareQuantize};

extern constexpr Kernel kModeRescale{.name = "mode-rescale",
                                     .ops = kRescaleOps,
                                     .layout = LayoutRule::kEither,
                                     .modes = Modes::kWithFormulas,
                                     .match = &MatchRescale,
                                     .prepare = &PrepareRescale};

extern constexpr Kernel kModeRelu{.name = "mode-relu",
                                  .ops = kReluOps,
                                  .layout = LayoutRule::kEither,
                                  .modes = Modes::kWithFormulas,
                                  .match = &MatchRescale,
                                  .prepare = &PrepareRelu};

extern constexpr Kernel kModeClip{.name = "mode-clip",
                                  .ops = kClipOps,
                                  .layout = LayoutRule::kEither,
                                  .modes = Modes::kWithFormulas,
                                  .images = 1,
                                  .match = &MatchClip,
                                  .prepare = &PrepareClip};

}  // namespace octavo::runtime

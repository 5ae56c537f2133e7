// SPDX-License-Identifier: Apache-2.0
// Rescale to or from a per-channel type in the numerics modes that are not `qlinear`: the mode's
// Rescale converts each channel between its parameters on either side.
#include "core/ir/tensor.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/mode_rescale.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kOps[] = {"Rescale"};

bool PerChannel(const ir::Type& type) { return type.quantized() && !type.quant->per_tensor(); }

int AxisOf(const NodeView& view) {
  return *(PerChannel(view.in(0)) ? view.in(0) : view.out()).quant->axis;
}

int64_t ChannelsOf(const NodeView& view) { return view.out().shape[AxisOf(view)]; }

ir::Type OfChannel(const ir::Type& type, int64_t channel) {
  const ir::Quant& quant = *type.quant;
  return {type.dtype,
          type.shape,
          ir::Quant::PerTensor(quant.scale(channel), quant.zero_point(channel)),
          {}};
}

bool Match(const NodeView& view) {
  const ir::Type &from = view.in(0), &to = view.out();
  if (!from.quantized() || !to.quantized() || !(PerChannel(from) || PerChannel(to))) return false;
  if (PerChannel(from) && PerChannel(to) && from.quant->axis != to.quant->axis) return false;
  for (int64_t c = 0; c < ChannelsOf(view); ++c) {
    if (!ModeRescaler::Of(*view.numerics, OfChannel(from, c), OfChannel(to, c))) return false;
  }
  return true;
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  const int64_t channels = ChannelsOf(view), stride = ir::StridesOf(view.out().shape)[AxisOf(view)];
  std::vector<ModeRescaler> rescalers;
  for (int64_t c = 0; c < channels; ++c) {
    rescalers.push_back(
        *ModeRescaler::Of(*view.numerics, OfChannel(view.in(0), c), OfChannel(view.out(), c)));
  }
  return Prepared{.run = [channels, stride, rescalers](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    ir::Tensor& y = context.out();
    context.pool->For(y.size(), kRowGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const ModeRescaler& rescaler = rescalers[i / stride % channels];
        StoreInteger(y, i, rescaler.Value(static_cast<int32_t>(x.IntAt(i))));
      }
    });
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kModeChannelRescale{.name = "mode-channel-rescale",
                                            .ops = kOps,
                                            .modes = Modes::kWithFormulas,
                                            .match = &Match,
                                            .prepare = &Prepare};

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/mode_rescale.h"

namespace octavo::runtime {

std::optional<ModeRescaler> ModeRescaler::Of(const numerics::Mode& mode, const ir::Type& from,
                                             const ir::Type& to) {
  if (!numerics::DefinesStorage(mode, from) || !numerics::DefinesStorage(mode, to)) {
    return std::nullopt;
  }
  if (!from.quant->per_tensor() || !to.quant->per_tensor()) return std::nullopt;
  numerics::RescaleFormula formula =
      mode.rescale(numerics::ChannelQuant::Of(from), numerics::ChannelQuant::Of(to));
  if (!formula) return std::nullopt;
  return ModeRescaler(std::move(formula), ir::IntegerRangeOf(to.dtype));
}

}  // namespace octavo::runtime

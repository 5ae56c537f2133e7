// SPDX-License-Identifier: Apache-2.0
// Rescale in a numerics mode: converts stored values from one per-tensor type to another.
#pragma once

#include <optional>

#include "core/ir/type.h"
#include "core/numerics/fixed_point.h"
#include "core/numerics/mode.h"

namespace octavo::runtime {

class ModeRescaler {
 public:
  // nullopt if the mode does not define it.
  static std::optional<ModeRescaler> Of(const numerics::Mode& mode, const ir::Type& from,
                                        const ir::Type& to);

  int32_t Value(int32_t value) const { return numerics::Clamp(formula_(value), range_); }

 private:
  ModeRescaler(numerics::RescaleFormula formula, ir::IntegerRange range)
      : formula_(std::move(formula)), range_(range) {}

  numerics::RescaleFormula formula_;
  ir::IntegerRange range_;
};

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// Requantization of products in the numerics modes that have their own formulas.
#pragma once

#include <memory>
#include <vector>

#include "core/numerics/fixed_point.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Requantizes sums of products of centered values to stored results, per output channel.
class ModeRequantizer {
 public:
  // Null if the mode does not define the node's product of inputs 0 and 1.  Modes define it for
  // 8-bit values, and for signed 16-bit values with zero point 0 times 8-bit weights; for a MatMul
  // also times 16-bit values.  `channels` counts output channels.
  static std::shared_ptr<const ModeRequantizer> Of(const NodeView& view, int64_t channels);

  int32_t Value(int64_t sum, int64_t channel) const {
    return numerics::Clamp(formulas_[channel](sum), range_);
  }

 private:
  ModeRequantizer(std::vector<numerics::RequantizeFormula> formulas, ir::IntegerRange range)
      : formulas_(std::move(formulas)), range_(range) {}

  std::vector<numerics::RequantizeFormula> formulas_;
  ir::IntegerRange range_;
};

}  // namespace octavo::runtime

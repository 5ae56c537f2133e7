// SPDX-License-Identifier: Apache-2.0
// Requantization of products in the numerics modes that have formulas of their own.
#pragma once

#include <memory>
#include <vector>

#include "core/numerics/fixed_point.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Requantizes sums of products of centered values to stored results, per channel of the weights.
class ModeRequantizer {
 public:
  // Null where the mode does not define the node's product: input 0 by input 1, for 8-bit values;
  // for signed 16-bit ones with zero point 0 by 8-bit weights, a MatMul also by 16-bit values.
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

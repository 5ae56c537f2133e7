// SPDX-License-Identifier: Apache-2.0
// The order of elements in which a NaN comes before all numbers.
#pragma once

#include <cmath>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

// Whether a is a NaN or further than b.
template <class T, class F>
bool Beats(T a, T b, F&& further) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return further(a, b);
}

}  // namespace octavo::ops

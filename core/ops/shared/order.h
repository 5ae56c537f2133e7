// SPDX-License-Identifier: Apache-2.0
// An ordering of elements in which NaN precedes all numbers.
#pragma once

#include <cmath>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

// Whether a precedes b: a is NaN and b is not, or further(a, b) holds.
template <class T, class F>
bool Beats(T a, T b, F&& further) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return further(a, b);
}

}  // namespace octavo::ops

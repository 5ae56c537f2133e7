// SPDX-License-Identifier: Apache-2.0
// Rounding to integers, element by element.
#include <cmath>

#include "core/ops/shared/pointwise.h"

namespace octavo::ops {

using ir::OpDef;
using ir::Since;

extern constexpr OpDef kCeil =
    PointwiseInType("Ceil", Since(1), [](auto x) { return std::ceil(x); });
extern constexpr OpDef kFloor =
    PointwiseInType("Floor", Since(1), [](auto x) { return std::floor(x); });
// Rounds ties to even.
extern constexpr OpDef kRound =
    PointwiseInType("Round", Since(11), [](auto x) { return std::nearbyint(x); });

}  // namespace octavo::ops

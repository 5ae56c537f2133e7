// SPDX-License-Identifier: Apache-2.0
// Runs the graphs before and after a step that no equation proves: a step whose rules all claim to
// be exact is wrong if one value has other bits for some inputs.
#pragma once

#include <vector>

#include "core/numerics/mode.h"
#include "core/verify/verify.h"

namespace octavo::job {

// A step that is not run because of its cost: both graphs together, for one run.
struct NotRun {
  int step = 0;
  double elements = 0;         // of all values
  double multiplications = 0;  // estimated from shapes
};
inline constexpr double kMaxRunElements = 0x1p22;
inline constexpr double kMaxRunMultiplications = 0x1p31;

// kInvalidArgument naming value, element and step where such a difference is found; otherwise the
// steps that were left out.  That nothing was found proves nothing.
Result<std::vector<NotRun>> SearchCounterexample(const ir::Graph& before,
                                                 const verify::Certificate& certificate,
                                                 const verify::Verdict& verdict,
                                                 const text::OpLookup& find_op,
                                                 const numerics::Mode& numerics);

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Runs the graphs before and after a step that no equation proves: a step whose rules all claim to
// be exact is wrong if one value has other bits for some inputs.
#pragma once

#include "core/numerics/mode.h"
#include "core/verify/verify.h"

namespace octavo::job {

// kInvalidArgument naming value, element and step where such a difference is found.  OK otherwise,
// which proves nothing.  Graphs whose values have more than 4 Mi elements are not run.
Status SearchCounterexample(const ir::Graph& before, const verify::Certificate& certificate,
                            const verify::Verdict& verdict, const text::OpLookup& find_op,
                            const numerics::Mode& numerics);

}  // namespace octavo::job

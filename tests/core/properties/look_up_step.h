// SPDX-License-Identifier: Apache-2.0
// A random Gather whose indices other nodes compute.
#pragma once

#include "tests/core/properties/random_steps.h"

namespace octavo::test {

// Rows of a constant table, or slices of `x`, at indices that ArgMax, ArgMin, TopK or Cast give.
// Appends the nodes of the indices to the graph.
std::optional<Step> DrawLookUp(Sketch& sketch, ir::ValueId x);

}  // namespace octavo::test

// SPDX-License-Identifier: Apache-2.0
// Quantized values that no run computes, because merge-constants evaluates them.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

// By value: whether it is quantized and follows from constants alone.  A Rescale of such a value
// costs nothing in the final graph.
std::vector<bool> EvaluatedValues(const ir::Graph& graph);

}  // namespace octavo::passes

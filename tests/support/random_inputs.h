// SPDX-License-Identifier: Apache-2.0
// Inputs for a graph; equal seeds give equal inputs on every machine.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::test {

// Returns one tensor per graph input.  Quantized inputs use all their values.  Floats lie in the
// type's proven range, else in [-8, 8); plain integers lie in the type's range, else in {0, 1}.
std::vector<ir::Tensor> RandomInputs(const ir::Graph& graph, uint64_t seed);

}  // namespace octavo::test

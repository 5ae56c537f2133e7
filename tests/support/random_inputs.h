// SPDX-License-Identifier: Apache-2.0
// Inputs for a graph, the same for the same seed on every machine.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::test {

// One tensor per graph input.  Quantized inputs take all their values; floats are in the type's
// proven range, else in [-8, 8); plain integers in the type's range, else in {0, 1}.
std::vector<ir::Tensor> RandomInputs(const ir::Graph& graph, uint64_t seed);

}  // namespace octavo::test

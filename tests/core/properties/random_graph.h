// SPDX-License-Identifier: Apache-2.0
// Random graphs for the properties of passes: small values, but all combinations of ops, types and
// consumers.  Equal seeds give equal graphs on every machine.
#pragma once

#include "core/ir/graph.h"

namespace octavo::test {

// A graph like an imported quantized model: integer and float inputs and outputs, per-tensor and
// per-channel types, Rescales anywhere, constants pending and merged, biases of every form, values
// with several consumers, float islands, unused results.
ir::Graph RandomQuantizedGraph(uint64_t seed);

// A graph like an imported float model.
ir::Graph RandomFloatGraph(uint64_t seed);

}  // namespace octavo::test

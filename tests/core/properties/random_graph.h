// SPDX-License-Identifier: Apache-2.0
// Random graphs for the properties of passes: small values, but every way in which ops, types and
// readers may meet.  The same seed gives the same graph on every machine.
#pragma once

#include "core/ir/graph.h"

namespace octavo::test {

// As an imported quantized model is: integer and float inputs and outputs, per-tensor and
// per-channel types, Rescales anywhere, constants pending and merged, biases of every form, values
// with several readers, float islands, unused results.
ir::Graph RandomQuantizedGraph(uint64_t seed);

// As an imported float model is.
ir::Graph RandomFloatGraph(uint64_t seed);

}  // namespace octavo::test

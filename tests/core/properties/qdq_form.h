// SPDX-License-Identifier: Apache-2.0
// A quantized graph as other tools write it: every op in float, between Dequantize and Quantize.
#pragma once

#include "core/ir/graph.h"

namespace octavo::test {

// The same values under the same names, with `NAME.real` for the floats.  Some data movement, as
// `seed` draws, gives its floats to its consumers without Quantize and Dequantize in between.
ir::Graph QdqForm(const ir::Graph& graph, uint64_t seed);

}  // namespace octavo::test

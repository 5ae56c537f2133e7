// SPDX-License-Identifier: Apache-2.0
// The rule recognize-op: an op that a model decomposes between DequantizeLinear and QuantizeLinear
// becomes one node again, which is rounded once, by the single QuantizeLinear after it.  An
// exporter for an older operator set can write such an op in no other way.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

void RecognizeOps(ir::Graph& graph, Context& context);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// The rule recognize-op: an op that a model decomposes between DequantizeLinear and QuantizeLinear
// becomes one node again.  That node rounds once, like the single QuantizeLinear after it.  An
// exporter for an older opset can only write such an op decomposed.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

void RecognizeOps(ir::Graph& graph, Context& context);

}  // namespace octavo::passes

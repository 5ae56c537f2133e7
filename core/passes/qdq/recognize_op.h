// SPDX-License-Identifier: Apache-2.0
// The rule recognize-op: an op that a model decomposes between DequantizeLinear and QuantizeLinear
// becomes one node again.  That node rounds once, like the single QuantizeLinear after it.  An
// exporter for an older opset can only write such an op decomposed.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/qdq/qdq_analysis.h"

namespace octavo::passes {

// A pattern of which an inner node is in `origin.kept_float` is left as it is: an exporter that
// writes one op as several lists only the last one.  One that ends at a node of
// `origin.written_out` becomes one node in floats, too.
void RecognizeOps(ir::Graph& graph, const QdqOrigin& origin, Context& context);

}  // namespace octavo::passes

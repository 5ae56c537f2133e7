// SPDX-License-Identifier: Apache-2.0
// The rule recognize-op: an op that a model decomposes between DequantizeLinear and QuantizeLinear
// becomes one node again.  That node rounds once, like the single QuantizeLinear after it.  An
// exporter for an older opset can only write such an op decomposed.
#pragma once

#include <set>
#include <string>

#include "core/passes/pass.h"

namespace octavo::passes {

// A pattern of which an inner node is in `kept_float` is left as it is: an exporter that writes one
// op as several lists only the last one.
void RecognizeOps(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context);

}  // namespace octavo::passes

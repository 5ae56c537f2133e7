// SPDX-License-Identifier: Apache-2.0
// Decides which nodes that stay float have quantized weights: those that --weights-only names, and
// embeddings whose rows only float ops read.
#pragma once

#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

// Call when the plan knows which nodes are integer.  Sets weights_only, and the reasons of
// embeddings.
void ChooseFloatWeights(const ir::Graph& graph, const FloatChoice& choice, const Settings& settings,
                        QuantizePlan& plan);

}  // namespace octavo::passes

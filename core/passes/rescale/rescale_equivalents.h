// SPDX-License-Identifier: Apache-2.0
// Rules of absorb_rules.h for constants, for identities that are Rescales, and for TopK.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// Applies fold-constant to the Rescale `id`.
bool FoldConstantRescale(ir::Graph& graph, ir::NodeId id, Context& context);

// Applies identity-to-rescale to the node `id`.
bool IdentityToRescale(ir::Graph& graph, ir::NodeId id, Context& context);

// Applies sink-below-top-k to the node `id`.
bool SinkBelowTopK(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes

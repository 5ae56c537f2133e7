// SPDX-License-Identifier: Apache-2.0
// Rules of absorb_rules.h for constants, for identities that are a Rescale, and for TopK.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// fold-constant at the Rescale `id`.
bool FoldConstantRescale(ir::Graph& graph, ir::NodeId id, Context& context);

// identity-to-rescale at the node `id`.
bool IdentityToRescale(ir::Graph& graph, ir::NodeId id, Context& context);

// sink-below-top-k at the node `id`.
bool SinkBelowTopK(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes

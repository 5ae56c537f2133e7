// SPDX-License-Identifier: Apache-2.0
// Finds nodes that are identities.
#pragma once

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The operand that result 0 always equals in the mode, in elements and type (quantization
// included); none if there is none.
ir::ValueId IdentityOperand(const ir::Graph& graph, const ir::Node& node,
                            const numerics::Mode& mode);

// The same for real values only: if operand and result differ in quantization, the node is a
// Rescale.
ir::ValueId RealIdentityOperand(const ir::Graph& graph, const ir::Node& node,
                                const numerics::Mode& mode);

// The effect of removing such a node: a mean of one float turns -0 into 0.
Effect EffectOfIdentity(const ir::Graph& graph, const ir::Node& node);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Detects nodes that are identities.
#pragma once

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The operand that always equals result 0 in the mode, in elements and type (including
// quantization); invalid if there is none.
ir::ValueId IdentityOperand(const ir::Graph& graph, const ir::Node& node,
                            const numerics::Mode& mode);

// The same for real values only: operand and result may differ in quantization; the node is then a
// Rescale.
ir::ValueId RealIdentityOperand(const ir::Graph& graph, const ir::Node& node,
                                const numerics::Mode& mode);

// The numeric effect of removing such a node; not always exact, because a mean of one float turns
// -0 into 0.
Effect EffectOfIdentity(const ir::Graph& graph, const ir::Node& node);

}  // namespace octavo::passes

// Which nodes hand their operand on unchanged.
#pragma once

#include "core/ir/graph.h"
#include "core/ir/numerics.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The operand that result 0 always equals in the mode, element by element and type by type
// (quantization included); none where there is none.
ir::ValueId SameAs(const ir::Graph& graph, const ir::Node& node, ir::Numerics mode);

// The same of the reals alone, whatever the types of operand and result are: where only their
// quantization differs, the node is a Rescale in disguise.
ir::ValueId SameRealsAs(const ir::Graph& graph, const ir::Node& node, ir::Numerics mode);

// What taking such a node out does: a mean of one float turns -0 into 0.
Effect EffectOfNoop(const ir::Graph& graph, const ir::Node& node);

}  // namespace octavo::passes

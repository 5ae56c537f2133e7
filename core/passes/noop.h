// Which nodes hand their operand on unchanged.
#pragma once

#include "core/ir/graph.h"

namespace octavo::passes {

// The operand that result 0 always equals, element by element and type by type (quantization
// included: if only that differs, the node is a Rescale in disguise); none where there is none.
ir::ValueId SameAs(const ir::Graph& graph, const ir::Node& node);

}  // namespace octavo::passes

// What rows that move codes as they are ask of a node.
#pragma once

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether the node keeps its type, so that codes may be moved as they are.
bool MovesCodes(const NodeView& view);
// The code, of the result's type, with which a Pad fills; its value, if any, is constant.
ir::Tensor PadCode(const NodeView& view);

}  // namespace octavo::runtime

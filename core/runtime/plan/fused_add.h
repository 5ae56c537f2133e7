// SPDX-License-Identifier: Apache-2.0
// An Add of two 8-bit tensors that is the only consumer of one operand.  The kernel of that operand
// may add the other operand in its epilogue.  The bits are those of the two separate ops.
#pragma once

#include <optional>

#include "core/runtime/int8/types.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

struct FusedAdd {
  ir::NodeId node = {};
  ir::ValueId addend = {};
  int8::ResidualAdd residual = {};
  bool is_row = false;  // the addend is one row along the last axis, broadcast to all
};

// The only consumer of the node's result, if it is an Add that can be fused.
std::optional<FusedAdd> FusableAdd(const NodeView& view);

}  // namespace octavo::runtime

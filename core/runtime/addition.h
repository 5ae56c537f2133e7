// An Add of two 8-bit images whose one operand nobody else reads: the kernel that makes that
// operand may add the other at once.  The bits are those of the two ops, one after the other.
#pragma once

#include <optional>

#include "core/runtime/int8/types.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

struct FollowingAdd {
  ir::NodeId node = {};
  ir::ValueId addend = {};
  int8::Addition addition = {};
  bool is_row = false;  // the addend is one row, along the last axis, for all
};

// The Add that alone reads the node's result, if it can be fused.
std::optional<FollowingAdd> AddAfter(const NodeView& view);

}  // namespace octavo::runtime

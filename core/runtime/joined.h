// A Concat of channels whose operands nobody else reads: a kernel that makes one of them may write
// it to its place in the result at once.
#pragma once

#include <optional>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Channels of an image that lies channels-last.
struct JoinedPart {
  ir::NodeId concat = {};
  int64_t first = 0;     // of the operand's, in the result
  int64_t channels = 0;  // of the result
};

// Where the value goes, if a Concat alone reads it and that moves codes.
std::optional<JoinedPart> PartOfConcat(const ir::Graph& graph, ir::ValueId value,
                                       const FixedValues& fixed);

// Copies the operands of a Concat that `is_placed` does not mark.
Result<Prepared> JoinOthers(const NodeView& view, const std::vector<bool>& is_placed);

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// A Concat along channels that is the only consumer of some of its operands: the kernels of these
// operands may store them directly to their slices of the result.
#pragma once

#include <optional>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// A range of channels of a channels-last image.
struct ConcatSlice {
  ir::NodeId concat = {};
  int64_t first = 0;     // first channel of the operand in the result
  int64_t channels = 0;  // of the result
};

// The slice for the value, if its only consumer is a Concat along channels that keeps its
// quantization parameters.
std::optional<ConcatSlice> ConcatSliceOf(const ir::Graph& graph, ir::ValueId value,
                                         const FixedValues& fixed);

// Copies the operands of a Concat that `in_place` does not mark.
Result<Prepared> PrepareConcatCopies(const NodeView& view, const std::vector<bool>& in_place);

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// Step 1 of a plan: evaluates the nodes whose operands are all constant.
#pragma once

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether all operands of the node are in `constants`.  If `constants` comes from FoldConstants, it
// then also contains the node's results.
bool IsConstantNode(const ir::Node& node, const FixedValues& constants);

// Computes a node whose operands are all in `constants`, and adds its results.
Status EvaluateNode(const NodeView& view, ThreadPool& pool, FixedValues& constants);

// The graph's constants and every value that depends only on them, as stored.  kUnimplemented names
// a node that no kernel computes in the mode.
Result<FixedValues> FoldConstants(const ir::Graph& graph, const numerics::Mode& numerics,
                                  ThreadPool& pool);

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// Infers the types of results from the types of operands.  Also computes the few values (shapes,
// axes) that follow from constants and shapes, so that they are known before any run.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::ir {

// The error reason if a result type depends on an operand's elements, which only a run can
// determine.  The error's field is the operand's name.
inline constexpr std::string_view kDependsOnData = "DEPENDS_ON_DATA";

// Walks a graph in order.  Visit each node after the producers of its operands.
class Inference {
 public:
  explicit Inference(const Graph& graph) : graph_(graph) {}

  // The expressed types of the node's results.  Leaves the graph unchanged.
  Result<std::vector<Type>> Infer(NodeId id);
  // Remembers the results' elements if they are known and few.  Call it after writing the types of
  // the results to the graph.
  void Learn(NodeId id);
  // The elements of a value if they are known, else null.  Valid until the next Learn.
  const Tensor* Known(ValueId id) const;

 private:
  const Graph& graph_;
  std::unordered_map<ValueId, Tensor> known_;
};

// Types of the results that a new node would have; for passes that create nodes.  An operand's
// elements are known if it is a constant.
Result<std::vector<Type>> InferNode(const Graph& graph, const OpDef& op, std::string_view name,
                                    const std::vector<ValueId>& inputs, const AttrMap& attributes,
                                    size_t results = 1);

}  // namespace octavo::ir

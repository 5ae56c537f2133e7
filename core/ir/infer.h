// SPDX-License-Identifier: Apache-2.0
// Infers types of results from types of operands, and the few values (shapes, axes) that follow
// from constants and shapes, so that they are known before any run.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::ir {

// The reason of the error for a type that depends on an operand's elements, which only a run knows.
// Its field is the operand's name.
inline constexpr std::string_view kDependsOnData = "DEPENDS_ON_DATA";

// Walks a graph in order.  Visit each node after the nodes that it reads from.
class Inference {
 public:
  explicit Inference(const Graph& graph) : graph_(graph) {}

  // The expressed types of the node's results.  Does not change the graph.
  Result<std::vector<Type>> Infer(NodeId id);
  // Remembers the results' elements if they are known and few.  Call after the types of the
  // results are set in the graph.
  void Learn(NodeId id);
  // The elements of a value where they are known, else null.  Valid until the next Learn.
  const Tensor* Known(ValueId id) const;

 private:
  const Graph& graph_;
  std::unordered_map<ValueId, Tensor> known_;
};

// Infers the types of all results of unquantized values and writes them into the graph;
// quantized results keep their dtype and quantization and get the inferred shape.
Status InferAll(Graph& graph);

// Types of the results that a node would have; for passes that make new nodes.  Operands'
// elements are known where they are constants.
Result<std::vector<Type>> InferNode(const Graph& graph, const OpDef& op, std::string_view name,
                                    const std::vector<ValueId>& inputs, const AttrMap& attributes,
                                    size_t results = 1);

}  // namespace octavo::ir

// SPDX-License-Identifier: Apache-2.0
// Runs one row of the op table on tensors, as a graph of one node would.
#pragma once

#include "core/ir/infer.h"
#include "core/ops/op_table.h"

namespace octavo::ops {

inline const ir::OpDef& DataOp(std::string_view name) { return *FindOp(name); }

struct DataCase {
  std::string_view op = {};
  std::vector<std::optional<ir::Tensor>> inputs = {};  // nullopt: absent
  ir::AttrMap attributes = {};
  size_t results = 1;
};

// Infers types and evaluates; all inputs are constant.
inline Result<std::vector<ir::Tensor>> RunCase(const DataCase& test) {
  ir::Graph graph;
  std::vector<ir::ValueId> ids;
  std::vector<const ir::Tensor*> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    ids.push_back(test.inputs[i] ? graph.AddConstant(fmt::format("x{}", i), *test.inputs[i])
                                 : ir::ValueId{});
    inputs.push_back(test.inputs[i] ? &*test.inputs[i] : nullptr);
  }
  const ir::OpDef& op = DataOp(test.op);
  OCTAVO_TRY(const std::vector<ir::Type> types,
             ir::InferNode(graph, op, "test", ids, test.attributes, test.results));
  ir::Node node;
  node.name = "test";
  node.op = &op;
  node.inputs = ids;
  node.attributes = test.attributes;
  std::vector<ir::Tensor> results;
  for (const ir::Type& type : types) results.emplace_back(type.dtype, type.shape);
  ThreadPool pool(1);
  OCTAVO_CHECK(op.definition({.node = node, .inputs = inputs, .results = results, .pool = &pool}));
  return results;
}

}  // namespace octavo::ops

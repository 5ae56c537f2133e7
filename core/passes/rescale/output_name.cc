// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/output_name.h"

#include <cassert>
#include <vector>

namespace octavo::passes {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

bool CanBecomeOutput(const Graph& graph, ValueId value) {
  return graph.Producer(value) != nullptr && !graph.IsOutput(value);
}

void ComputeAsOutput(Graph& graph, ValueId output, ValueId value) {
  assert(CanBecomeOutput(graph, value));
  const NodeId old = graph.value(output).producer;
  const std::vector<ir::Use> uses = graph.value(value).uses;
  for (const ir::Use& use : uses) {
    if (use.node != old) graph.SetInput(use.node, use.input, output);
  }
  graph.SetType(output, graph.type(value));
  graph.AddAlias(graph.name(value), output);
  graph.Absorb(value, output);
}

}  // namespace octavo::passes

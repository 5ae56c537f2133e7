// SPDX-License-Identifier: Apache-2.0
#include "core/job/limits.h"

namespace octavo::job {

Status CheckValueBytes(const ir::Graph& graph, const ModelLimits& limits) {
  if (limits.value_bytes == 0) return {};
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::ValueId result : node.results) {
      const ir::Type& type = graph.type(result);
      if (type.bytes() <= limits.value_bytes) continue;
      return Fail(Code::kTooLarge,
                  "{} '{}': its result '{}' of shape {} takes {} bytes; at most {} are allowed "
                  "(max-value-bytes)",
                  node.op->name, node.name, graph.name(result), ir::ToString(type.shape),
                  type.bytes(), limits.value_bytes)
          .Node(node.name)
          .Field("max-value-bytes");
    }
  }
  return {};
}

}  // namespace octavo::job

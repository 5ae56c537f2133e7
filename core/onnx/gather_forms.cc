#include "core/onnx/gather_forms.h"

#include <algorithm>

#include "core/patterns/asking.h"
#include "core/patterns/patterns.h"

namespace octavo::onnx {
namespace {

using ir::NodeId;
using ir::ValueId;

// Whether codes are all that becomes of a float.
bool IsOnlyQuantized(const ir::Graph& graph, ValueId value) {
  const std::vector<NodeId> readers = graph.Readers(value);
  return !readers.empty() && !graph.IsOutput(value) &&
         std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
           return patterns::IsOwn(graph.node(reader), "Quantize");
         });
}

bool IsUnread(const ir::Graph& graph, const ir::Node& node) {
  return std::all_of(node.results.begin(), node.results.end(),
                     [&](ValueId result) { return graph.CountUses(result) == 0; });
}

// What others read as well stays.
void EraseUnread(ir::Graph& graph, std::vector<NodeId> nodes) {
  for (size_t left = 0; left != nodes.size();) {
    left = nodes.size();
    std::erase_if(nodes, [&](NodeId id) {
      const bool unread = IsUnread(graph, graph.node(id));
      if (unread) graph.Erase(id);
      return unread;
    });
  }
}

void Gather(ir::Graph& graph, NodeId last) {
  if (graph.node(last).results.size() != 1) return;
  if (!IsOnlyQuantized(graph, graph.node(last).result())) return;
  for (const patterns::Pattern& pattern : patterns::AllPatterns()) {
    std::optional<patterns::Form> form = pattern.match(graph, last);
    if (!form) continue;
    const ValueId x = form->inputs[0];
    if (!patterns::IsOwn(graph.Producer(x), "Dequantize")) return;
    const std::vector<NodeId> nodes = patterns::NodesOf(graph, last, x);
    patterns::Apply(graph, last, pattern, *std::move(form));
    EraseUnread(graph, nodes);
    return;
  }
}

}  // namespace

void GatherForms(ir::Graph& graph) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.nodes()) nodes.push_back(id);
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!graph.node(nodes[i]).erased) Gather(graph, nodes[i]);
  }
}

}  // namespace octavo::onnx

#include "core/passes/equal_nodes.h"

#include <unordered_map>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Larger constants are compared by identity alone.
constexpr int64_t kComparedElements = 64;

bool IsPending(const Graph& graph, const Node& node) {
  return IsOwn(node, "Quantize") && graph.IsConstant(node.input(0));
}

// What two nodes must share to be equal, apart from attributes and types.
std::string KeyOf(const Graph& graph, const Node& node) {
  std::string key = fmt::format("{}.{}.{}", node.op->domain, node.op->name, node.results.size());
  for (const ValueId input : node.inputs) {
    const ir::Tensor* tensor = ConstantOf(graph, input);
    if (tensor != nullptr && tensor->size() <= kComparedElements) {
      key +=
          fmt::format("|{}:{}:", static_cast<int>(tensor->dtype()), ir::ToString(tensor->shape()));
      key.append(reinterpret_cast<const char*>(tensor->raw()), tensor->bytes());
    } else {
      key += fmt::format("|%{}", input.index);
    }
  }
  return key;
}

bool SameTypes(const Graph& graph, const Node& a, const Node& b) {
  for (size_t i = 0; i < a.results.size(); ++i) {
    if (graph.type(a.results[i]) != graph.type(b.results[i])) return false;
  }
  return a.attributes == b.attributes;
}

bool MergeInto(Graph& graph, NodeId twin, NodeId id, Context& context, bool& resort) {
  const std::string name = graph.node(id).name;
  const std::vector<ValueId> from = graph.node(id).results, to = graph.node(twin).results;
  if (from.size() == 1) {
    if (!Replace(graph, from[0], to[0], resort)) return false;
  } else {
    for (const ValueId result : from) {
      if (graph.IsOutput(result)) return false;
    }
    for (size_t i = 0; i < from.size(); ++i) graph.Forward(from[i], to[i]);
    graph.AddOrigin(twin, graph.node(id).origin);
    graph.Erase(id);
  }
  context.Applied(kEqualNodes, name, {graph.name(from[0]), graph.name(to[0])});
  return true;
}

}  // namespace

Status MergeEqualNodes(Graph& graph, Context& context) {
  bool resort = false;
  std::unordered_map<std::string, std::vector<NodeId>> seen;
  for (const NodeId id : graph.nodes()) {
    if (IsPending(graph, graph.node(id))) continue;
    std::vector<NodeId>& twins = seen[KeyOf(graph, graph.node(id))];
    bool merged = false;
    for (const NodeId twin : twins) {
      if (graph.node(twin).erased || !SameTypes(graph, graph.node(twin), graph.node(id))) continue;
      merged = MergeInto(graph, twin, id, context, resort);
      if (merged) break;
    }
    if (!merged || !graph.node(id).erased) twins.push_back(id);
  }
  return resort ? graph.Sort() : Status{};
}

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "core/job/float_names.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/glob.h"
#include "core/base/nearest_name.h"
#include "core/ops/op_table.h"
#include "core/passes/quantize/quantize_plan.h"
#include "core/passes/quantize/unknown_names.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;

constexpr size_t kShown = 3;  // nodes that a message names

// The nodes of a graph by their own names and by those of the nodes that they compute.
class NodeFinder {
 public:
  explicit NodeFinder(const Graph& graph) : graph_(graph) {
    for (const NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      if (node.op->domain == "octavo") continue;
      own_.emplace(node.name, id);
      for (const std::string& origin : node.origin) origins_.emplace(origin, id);
    }
  }

  // The node that computes what the model's node of that name computed; null if there is none.
  const Node* Of(const std::string& name) const {
    for (const auto* names : {&own_, &origins_}) {
      const auto at = names->find(name);
      if (at != names->end()) return &graph_.node(at->second);
    }
    return nullptr;
  }

 private:
  const Graph& graph_;
  std::unordered_map<std::string, NodeId> own_, origins_;
};

// What became of the nodes of one name.
struct Fate {
  int64_t kept = 0;                       // float nodes with the model's name and op
  int64_t integer = 0;                    // the model has them in integers
  std::vector<std::string> changed = {};  // parts of other nodes, or gone
  std::string first = {};                 // of those, for the warning
};

Fate FateOf(const FloatName& name, const Graph& graph, const NodeFinder& finder) {
  Fate fate;
  for (const FloatName::Node& node : name.nodes) {
    if (!node.real) continue;
    const Node* now = finder.Of(node.name);
    const bool same = now != nullptr && now->name == node.name && now->op->name == node.op;
    const bool is_float = now != nullptr && passes::IsFloatNode(graph, *now);
    if (same) {
      ++(is_float ? fate.kept : fate.integer);
      continue;
    }
    if (fate.changed.empty()) fate.first = node.name;
    fate.changed.push_back(now == nullptr
                               ? fmt::format("{} '{}' was folded away", node.op, node.name)
                               : fmt::format("{} '{}' is now {} '{}', {}", node.op, node.name,
                                             now->op->name, now->name,
                                             is_float ? "which stays float" : "an integer op"));
  }
  return fate;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), kShown); ++i) {
    text += (text.empty() ? "" : "; ") + parts[i];
  }
  if (parts.size() > kShown) text += fmt::format("; and {} more", parts.size() - kShown);
  return text;
}

// Whether a float node that passes created has the name, or an op of it.
bool NamesFloatNode(const std::string& name, const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (passes::IsFloatNode(graph, node) && passes::IsNamedBy({name}, graph, node)) return true;
  }
  return false;
}

std::string WhyNoEffect(const FloatName& name, const Fate& fate) {
  if (fate.integer > 0) return "the model has it in integers already";
  if (!name.nodes.empty()) return "it computes no real numbers";
  if (name.is_value) return "no operator computes this value";
  if (name.in_model) return "import removes or converts the model's operators of that name";
  return "the model has no operator of that name";
}

}  // namespace

std::vector<FloatName> FindFloatNames(const std::vector<std::string>& names, const Graph& imported,
                                      const std::map<std::string, int64_t>& ops) {
  std::vector<FloatName> found;
  std::unordered_map<std::string, size_t> places;
  std::vector<size_t> patterns;
  for (const std::string& name : names) {
    if (!places.emplace(name, found.size()).second) continue;
    if (IsGlob(name)) patterns.push_back(found.size());
    found.push_back({.name = name,
                     .is_op = ops::FindOp(name, "") != nullptr,
                     .is_value = imported.Knows(name),
                     .in_model = ops.contains(name)});
  }
  if (found.empty()) return found;
  for (const NodeId id : imported.nodes()) {
    const Node& node = imported.node(id);
    if (node.op->domain == "octavo") continue;
    std::set<std::string, std::less<>> meant = {node.name, std::string(node.op->name)};
    for (const ir::ValueId result : node.results) meant.insert(imported.name(result));
    const auto add = [&](FloatName& entry, bool is_op) {
      entry.nodes.push_back({.name = node.name,
                             .op = std::string(node.op->name),
                             .real = passes::IsFloatNode(imported, node)});
      entry.is_op |= is_op;
    };
    for (const std::string& name : meant) {
      const auto at = places.find(name);
      if (at != places.end()) add(found[at->second], name == node.op->name);
    }
    for (const size_t place : patterns) {
      const std::string& pattern = found[place].name;
      const auto matches = [&](const std::string& name) {
        return name != pattern && MatchesGlob(pattern, name);
      };
      const auto count = std::ranges::count_if(meant, matches);
      const bool op = MatchesGlob(pattern, node.op->name);
      if (count > 0) add(found[place], /*is_op=*/op && count == 1);
    }
  }
  return found;
}

std::vector<std::string> NodesToKeepFloat(const std::vector<FloatName>& names, const Graph& graph) {
  const NodeFinder finder(graph);
  std::vector<std::string> kept;
  for (const FloatName& name : names) {
    kept.push_back(name.name);
    for (const FloatName::Node& node : name.nodes) {
      const Node* now = finder.Of(node.name);
      if (now == nullptr) continue;
      // An op that a fused node computes along with others does not keep all of them in float.
      const bool alone = now->name == node.name && now->origin.size() <= 1;
      if (alone || !name.is_op) kept.push_back(node.name);
    }
  }
  return kept;
}

void WarnOfFloatNames(const std::vector<FloatName>& names, const Graph& graph,
                      std::vector<passes::Warning>& warnings) {
  const NodeFinder finder(graph);
  for (const FloatName& name : names) {
    const Fate fate = FateOf(name, graph, finder);
    if (!fate.changed.empty()) {
      warnings.push_back(
          {.code = "keep_float_fused",
           .message = fmt::format("--keep-float '{}': {}", name.name, Joined(fate.changed)),
           .node = fate.first});
      continue;
    }
    if (fate.kept > 0 || NamesFloatNode(name.name, graph)) continue;
    if (name.is_op || name.is_value || name.in_model || !name.nodes.empty()) {
      warnings.push_back(
          {.code = "keep_float_no_effect",
           .message = fmt::format("--keep-float '{}' names nothing that could be quantized: {}",
                                  name.name, WhyNoEffect(name, fate))});
    } else if (IsGlob(name.name)) {
      warnings.push_back({.code = "unknown_name",
                          .message = fmt::format("--keep-float '{}' matches no operator, node or "
                                                 "value of the model",
                                                 name.name)});
    } else {
      warnings.push_back(
          {.code = "unknown_name",
           .message = fmt::format("--keep-float '{}' names no operator, and no node or value of "
                                  "the model{}",
                                  name.name, DidYouMean(name.name, passes::KnownNames(graph)))});
    }
  }
}

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/float_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/glob.h"
#include "core/ir/qdq_notes.h"
#include "core/passes/qdq/name_list.h"
#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

using ir::Graph;
using ir::Node;

Result<FloatChoice> FloatChoice::Of(const Graph& graph, const Settings& settings) {
  FloatChoice choice(settings);
  for (const std::string& name : settings.options.keep_float) {
    choice.names_.insert(name);
    if (IsGlob(name)) choice.patterns_.push_back(name);
  }
  OCTAVO_TRY(choice.listed_, NamesIn(graph, ir::kFloatOnRequestKey));
  return choice;
}

bool FloatChoice::IsNamed(const Graph& graph, const Node& node) const {
  if (names_.empty()) return false;
  const auto named = [&](std::string_view name) {
    const auto matches = [&](const std::string& pattern) { return MatchesGlob(pattern, name); };
    return names_.contains(name) || std::ranges::any_of(patterns_, matches);
  };
  return named(node.name) || named(node.op->name) || std::ranges::any_of(node.origin, named) ||
         std::ranges::any_of(node.results,
                             [&](ir::ValueId result) { return named(graph.name(result)); });
}

// A rewrite may give the op to another node, which lists it among its origins.
bool FloatChoice::IsListed(const Node& node) const {
  if (listed_.empty()) return false;
  return listed_.contains(node.name) ||
         std::ranges::any_of(node.origin,
                             [&](const std::string& name) { return listed_.contains(name); });
}

bool FloatChoice::IsRequested(const Graph& graph, const Node& node) const {
  return node.op->domain != "octavo" && (IsNamed(graph, node) || IsListed(node));
}

std::string FloatChoice::WhyFloat(const Graph& graph, const Node& node) const {
  if (node.op->domain == "octavo") return {};
  if (IsNamed(graph, node)) return "kept in float on request";
  const target::Target& target = settings_->target;
  if (std::ranges::find(target.float_ops, node.op->name) != target.float_ops.end()) {
    return fmt::format("target {} keeps {} in float", target.name, node.op->name);
  }
  return IsListed(node) ? "an earlier job kept it in float on request" : "";
}

std::set<std::string> NamesOfChosen(const Graph& graph, const FloatChoice& choice) {
  std::set<std::string> names;
  for (const ir::NodeId id : graph.nodes()) {
    if (choice.StaysFloat(graph, graph.node(id))) names.insert(graph.node(id).name);
  }
  return names;
}

void FloatChoice::Note(Graph& graph, Context& context) const {
  std::set<std::string> names;
  for (const ir::NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    std::string why = IsFloatNode(graph, node) ? WhyFloat(graph, node) : "";
    if (why.empty()) continue;
    names.insert(node.name);
    context.KeepFloat(node.name, std::move(why));
  }
  if (names.empty()) {
    graph.metadata.erase(ir::kFloatOnRequestKey);
  } else {
    using Handler = nlohmann::json::error_handler_t;  // names may be no UTF-8
    graph.metadata[ir::kFloatOnRequestKey] =
        nlohmann::json(names).dump(-1, ' ', false, Handler::replace);
  }
}

}  // namespace octavo::passes

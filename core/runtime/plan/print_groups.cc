// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/runtime/plan/group.h"

namespace octavo::runtime {
namespace {

using ir::Graph;
using ir::Node;

std::string PrintKernel(const Graph& graph, const Group& group) {
  std::string line(graph.node(group.node).op->name);
  if (const auto& add = group.epilogue.add) {
    line += fmt::format(" + Add({}%{})", add->is_row ? "row " : "", graph.name(add->addend));
  }
  if (const auto& table = group.epilogue.table) {
    line += fmt::format(" + {}", graph.node(table->node).op->name);
  }
  line += fmt::format(" [{}]", group.kernel->name);
  if (const auto& slice = group.epilogue.slice) {
    line += fmt::format(", into %{} at channel {}", graph.name(graph.node(slice->concat).result()),
                        slice->first);
  }
  return line;
}

std::string PrintConcat(const Graph& graph, const Group& group) {
  const Node& node = graph.node(group.node);
  std::vector<std::string> copied;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!group.in_place[i]) copied.push_back("%" + graph.name(node.inputs[i]));
  }
  if (copied.empty()) return "Concat in place";
  return fmt::format("Concat in place, copies {}", fmt::join(copied, ", "));
}

std::string PrintView(const Graph& graph, const Grouping& grouping, const Group& group) {
  const Node& node = graph.node(group.node);
  const LazyView& view = grouping.views.at(node.results[0]);
  return fmt::format("{}, view of %{}", node.op->name, graph.name(view.base));
}

std::string PrintGroup(const Graph& graph, const Grouping& grouping, const Group& group) {
  switch (group.kind) {
    case Group::Kind::kConstant:
      return "constant";
    case Group::Kind::kKernel:
      return PrintKernel(graph, group);
    case Group::Kind::kInPlaceConcat:
      return PrintConcat(graph, group);
    case Group::Kind::kView:
      return PrintView(graph, grouping, group);
  }
  return "";
}

}  // namespace

std::string Print(const Graph& graph, const Grouping& grouping) {
  std::string text;
  for (const Group& group : grouping.groups) {
    text +=
        fmt::format("{}: {}\n", graph.node(group.node).name, PrintGroup(graph, grouping, group));
  }
  return text;
}

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/runtime/plan/layouts.h"

namespace octavo::runtime {
namespace {

std::string_view Name(Layout layout) {
  return layout == Layout::kPlain ? "plain" : "channels-last";
}

std::string PrintStep(const ir::Graph& graph, const Grouping& grouping, const ScheduledStep& step) {
  switch (step.kind) {
    case ScheduledStep::Kind::kGroup: {
      const ir::Node& node = graph.node(grouping.groups[step.group].node);
      return fmt::format("{}: {}, {}", node.name, node.op->name, Name(step.to));
    }
    case ScheduledStep::Kind::kConvert:
      return fmt::format("convert %{} to {}", graph.name(step.value), Name(step.to));
    case ScheduledStep::Kind::kCopyView: {
      const ir::ValueId base = grouping.views.at(step.value).base;
      return fmt::format("copy %{} from %{}, {} to {}", graph.name(step.value), graph.name(base),
                         Name(step.from), Name(step.to));
    }
  }
  return "";
}

}  // namespace

std::string Print(const ir::Graph& graph, const Grouping& grouping, const Schedule& schedule) {
  std::string text;
  for (const ScheduledStep& step : schedule) {
    const bool is_group = step.kind == ScheduledStep::Kind::kGroup;
    if (is_group && grouping.groups[step.group].kind == Group::Kind::kConstant) continue;
    text += PrintStep(graph, grouping, step) + "\n";
  }
  return text;
}

}  // namespace octavo::runtime

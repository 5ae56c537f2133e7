// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/layouts.h"

#include <algorithm>
#include <set>

namespace octavo::runtime {
namespace {

using ir::Node;
using ir::ValueId;

Layout OtherThan(Layout layout) {
  return layout == Layout::kPlain ? Layout::kChannelsLast : Layout::kPlain;
}

class LayoutChooser {
 public:
  LayoutChooser(const ir::Graph& graph, const FixedValues& constants, const Grouping& grouping)
      : graph_(graph), constants_(constants), grouping_(grouping) {}

  Schedule Run() {
    for (const ValueId id : graph_.inputs()) stored_.insert({id, Layout::kPlain});
    for (size_t i = 0; i < grouping_.groups.size(); ++i) AddGroup(i);
    for (const ValueId id : graph_.outputs()) Demand(id, Layout::kPlain);
    return std::move(schedule_);
  }

 private:
  void AddGroup(size_t index) {
    const Group& group = grouping_.groups[index];
    const Node& node = graph_.node(group.node);
    Layout layout = Layout::kPlain;
    switch (group.kind) {
      case Group::Kind::kView:
        return;
      case Group::Kind::kConstant:
        break;
      case Group::Kind::kInPlaceConcat:
        layout = Layout::kChannelsLast;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          if (!group.in_place[i]) Demand(node.inputs[i], layout);
        }
        break;
      case Group::Kind::kKernel:
        layout = LayoutFor(*group.kernel, node);
        DemandOperands(group, node, layout);
        break;
    }
    schedule_.push_back({.group = index, .to = layout});
    Store(group, layout);
  }

  void DemandOperands(const Group& group, const Node& node, Layout layout) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      Demand(node.inputs[i], i < group.kernel->images ? layout : Layout::kPlain);
    }
    if (const auto& add = group.epilogue.add) Demand(add->addend, layout);
  }

  // Records the layout of the group's results.
  void Store(const Group& group, Layout layout) {
    if (const auto& slice = group.epilogue.slice) {
      stored_.insert({graph_.node(slice->concat).result(), Layout::kChannelsLast});
      return;
    }
    for (const ValueId id : graph_.node(group.last()).results) {
      stored_.insert({id, CanonicalLayout(layout, graph_.type(id).shape)});
    }
  }

  bool IsStored(ValueId id, Layout layout) const { return stored_.count({id, layout}) > 0; }

  // Schedules the step that stores the value in this layout, unless it is scheduled already.
  void Demand(ValueId id, Layout layout) {
    layout = CanonicalLayout(layout, graph_.type(id).shape);
    if (!stored_.insert({id, layout}).second || constants_.count(id)) return;
    if (const auto view = grouping_.views.find(id); view != grouping_.views.end()) {
      const Layout from = BaseLayout(view->second, layout);
      schedule_.push_back({.kind = ScheduledStep::Kind::kCopyView,
                           .value = id,
                           .from = from,
                           .to = layout,
                           .copy = CopyOf(view->second, layout)});
      return;
    }
    schedule_.push_back({.kind = ScheduledStep::Kind::kConvert,
                         .value = id,
                         .from = OtherThan(layout),
                         .to = layout});
  }

  // The layout of a view's base from which the view is copied to `layout`.
  Layout BaseLayout(const LazyView& view, Layout layout) const {
    return IsStored(view.base, layout) ? layout : OtherThan(layout);
  }
  ViewCopy CopyOf(const LazyView& view, Layout layout) const {
    return {view, graph_.type(view.base).shape, BaseLayout(view, layout), layout};
  }

  // Whether a consumer that supports either layout should read the value channels-last.  A view
  // that is not stored yet is copied to the layout for which the copy is cheaper.
  bool IsChannelsLast(ValueId id) const {
    if (IsStored(id, Layout::kChannelsLast)) return true;
    const auto view = grouping_.views.find(id);
    if (view == grouping_.views.end() || IsStored(id, Layout::kPlain)) return false;
    const Layout canonical = CanonicalLayout(Layout::kChannelsLast, graph_.type(id).shape);
    if (canonical == Layout::kPlain || !IsStored(view->second.base, canonical)) return false;
    return CopyOf(view->second, Layout::kChannelsLast).Cost() <
           CopyOf(view->second, Layout::kPlain).Cost();
  }

  Layout LayoutFor(const Kernel& kernel, const Node& node) const {
    switch (kernel.layout) {
      case LayoutRule::kPlain:
        return Layout::kPlain;
      case LayoutRule::kChannelsLast:
        return Layout::kChannelsLast;
      case LayoutRule::kEither:
        break;
    }
    const auto images = std::span(node.inputs).first(std::min(kernel.images, node.inputs.size()));
    const bool is_last =
        std::ranges::any_of(images, [&](ValueId id) { return id && IsChannelsLast(id); });
    return is_last ? Layout::kChannelsLast : Layout::kPlain;
  }

  const ir::Graph& graph_;
  const FixedValues& constants_;
  const Grouping& grouping_;
  std::set<std::pair<ValueId, Layout>> stored_;
  Schedule schedule_;
};

}  // namespace

Schedule ChooseLayouts(const ir::Graph& graph, const FixedValues& constants,
                       const Grouping& grouping) {
  return LayoutChooser(graph, constants, grouping).Run();
}

}  // namespace octavo::runtime

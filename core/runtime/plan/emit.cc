// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/emit.h"

#include <algorithm>
#include <map>

namespace octavo::runtime {
namespace {

using ir::Node;
using ir::ValueId;

class Emitter {
 public:
  Emitter(const ir::Graph& graph, const FixedValues& constants, const Grouping& grouping,
          const numerics::Mode& numerics, ThreadPool& pool)
      : graph_(graph),
        constants_(constants),
        grouping_(grouping),
        numerics_(numerics),
        pool_(pool) {}

  Result<Program> Run(const Schedule& schedule) {
    for (const ValueId id : graph_.inputs()) {
      program_.inputs.push_back(NewSlot(id, Layout::kPlain, Slot::Kind::kInput));
    }
    for (const ScheduledStep& step : schedule) OCTAVO_CHECK(Emit(step));
    for (const ValueId id : graph_.outputs()) {
      const int slot = SlotOf(id, Layout::kPlain);
      if (program_.slots[slot].kind == Slot::Kind::kBuffer) {
        program_.slots[slot].kind = Slot::Kind::kOutput;
      }
      program_.outputs.push_back(slot);
    }
    return std::move(program_);
  }

 private:
  Status Emit(const ScheduledStep& scheduled) {
    switch (scheduled.kind) {
      case ScheduledStep::Kind::kConvert:
        return EmitConversion(scheduled);
      case ScheduledStep::Kind::kCopyView:
        return EmitViewCopy(scheduled);
      case ScheduledStep::Kind::kGroup:
        return EmitGroup(grouping_.groups[scheduled.group], scheduled.to);
    }
    return {};
  }

  Status EmitGroup(const Group& group, Layout layout) {
    const Node& node = graph_.node(group.node);
    const NodeView view{.graph = graph_,
                        .node = node,
                        .fixed = constants_,
                        .layout = layout,
                        .numerics = &numerics_};
    switch (group.kind) {
      case Group::Kind::kConstant:
        return EmitConstant(node);
      case Group::Kind::kKernel:
        return EmitKernel(group, view);
      case Group::Kind::kInPlaceConcat:
        return EmitInPlaceConcat(group, view);
      case Group::Kind::kView:
        break;  // EmitViewCopy emits it, once per layout that is needed
    }
    return {};
  }

  // ---------------------------------------------------------------- slots

  int NewSlot(ValueId id, Layout layout, Slot::Kind kind) {
    const ir::Type& type = graph_.type(id);
    const int slot = static_cast<int>(program_.slots.size());
    program_.slots.push_back(
        {.value = id, .layout = layout, .kind = kind, .dtype = type.dtype, .shape = type.shape});
    slots_[{id, layout}] = slot;
    return slot;
  }

  // The slot of a value in a layout; a constant gets its slot when it is first read.
  int SlotOf(ValueId id, Layout layout) {
    layout = CanonicalLayout(layout, graph_.type(id).shape);
    const auto at = slots_.find({id, layout});
    if (at != slots_.end()) return at->second;
    const int slot = NewSlot(id, layout, Slot::Kind::kFixed);
    program_.slots[slot].fixed = InLayout(constants_.at(id), layout);
    return slot;
  }

  ir::Tensor InLayout(const ir::Tensor& plain, Layout layout) {
    if (layout == Layout::kPlain) return plain;
    ir::Tensor converted(plain.dtype(), plain.shape());
    ConvertLayout(plain, Layout::kPlain, converted, pool_);
    return converted;
  }

  // ---------------------------------------------------------------- steps

  Status Add(Step step) {
    program_.steps.push_back(std::move(step));
    return {};
  }

  Status EmitConversion(const ScheduledStep& scheduled) {
    const bool to_plain = scheduled.to == Layout::kPlain;
    Step step{.kernel = to_plain ? "to-plain" : "to-channels-last",
              .op = "Layout",
              .node = graph_.name(scheduled.value),
              .inputs = {slots_.at({scheduled.value, scheduled.from})},
              .results = {NewSlot(scheduled.value, scheduled.to, Slot::Kind::kBuffer)}};
    step.prepared.run = [from = scheduled.from](const StepContext& context) -> Status {
      ConvertLayout(context.in(0), from, context.out(), *context.pool);
      return {};
    };
    return Add(std::move(step));
  }

  Status EmitViewCopy(const ScheduledStep& scheduled) {
    const Node& node = *graph_.Producer(scheduled.value);
    const ValueId base = grouping_.views.at(scheduled.value).base;
    Step step{.kernel = "copy-view",
              .op = node.op->name,
              .node = node.name,
              .inputs = {SlotOf(base, scheduled.from)},
              .results = {NewSlot(scheduled.value, scheduled.to, Slot::Kind::kBuffer)}};
    step.watched = step.results;
    step.prepared.run = [copy = *scheduled.copy](const StepContext& context) -> Status {
      copy.Run(context.in(0).raw(), context.out().mutable_raw(), *context.pool);
      return {};
    };
    return Add(std::move(step));
  }

  // A step that computes nothing: it only passes its results to a watcher.
  Status EmitConstant(const Node& node) {
    Step step{.kernel = "constant", .op = node.op->name, .node = node.name};
    for (const ValueId id : node.results) step.watched.push_back(SlotOf(id, Layout::kPlain));
    return Add(std::move(step));
  }

  Status EmitKernel(const Group& group, const NodeView& view) {
    const Kernel& kernel = *group.kernel;
    const Epilogue& epilogue = group.epilogue;
    const Node& node = view.node;
    Step step{.kernel = kernel.name,
              .isa = kernel.isa ? kernel.isa() : std::string_view(),
              .op = FusedName(node.op->name, epilogue),
              .node = node.name};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Layout layout = i < kernel.images ? view.layout : Layout::kPlain;
      step.inputs.push_back(node.inputs[i] ? SlotOf(node.inputs[i], layout) : -1);
    }
    if (epilogue.add) step.inputs.push_back(SlotOf(epilogue.add->addend, view.layout));
    const bool is_fused = epilogue.last() || epilogue.slice;
    OCTAVO_TRY(step.prepared,
               is_fused ? kernel.prepare_fused(view, epilogue) : kernel.prepare(view, pool_));
    if (epilogue.slice) {
      step.results = {ConcatSlot(epilogue.slice->concat)};
      return Add(std::move(step));
    }
    for (const ValueId id : graph_.node(group.last()).results) {
      const Layout canonical = CanonicalLayout(view.layout, graph_.type(id).shape);
      step.results.push_back(NewSlot(id, canonical, Slot::Kind::kBuffer));
    }
    step.watched = step.results;
    return Add(std::move(step));
  }

  // The slot of an in-place Concat's result; its first operand creates the slot.
  int ConcatSlot(ir::NodeId concat) {
    const ValueId result = graph_.node(concat).result();
    const auto at = slots_.find({result, Layout::kChannelsLast});
    return at != slots_.end() ? at->second
                              : NewSlot(result, Layout::kChannelsLast, Slot::Kind::kBuffer);
  }

  Status EmitInPlaceConcat(const Group& group, const NodeView& view) {
    const Node& node = view.node;
    Step step{.kernel = "concat", .op = node.op->name, .node = node.name};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      step.inputs.push_back(group.in_place[i] ? -1 : SlotOf(node.inputs[i], view.layout));
    }
    step.results = step.watched = {ConcatSlot(group.node)};
    if (std::ranges::count(group.in_place, false) > 0) {
      OCTAVO_TRY(step.prepared, PrepareConcatCopies(view, group.in_place));
    }
    return Add(std::move(step));
  }

  const ir::Graph& graph_;
  const FixedValues& constants_;
  const Grouping& grouping_;
  const numerics::Mode& numerics_;
  ThreadPool& pool_;
  std::map<std::pair<ValueId, Layout>, int> slots_;
  Program program_;
};

}  // namespace

Result<Program> EmitProgram(const ir::Graph& graph, const FixedValues& constants,
                            const Grouping& grouping, const Schedule& schedule,
                            const numerics::Mode& numerics, ThreadPool& pool) {
  return Emitter(graph, constants, grouping, numerics, pool).Run(schedule);
}

}  // namespace octavo::runtime

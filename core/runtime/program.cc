#include "core/runtime/program.h"

#include <map>
#include <set>

#include "core/runtime/kernel_table.h"
#include "core/runtime/memory_plan.h"
#include "core/runtime/moved.h"
#include "core/runtime/tail.h"
#include "core/runtime/unsigned_codes.h"

namespace octavo::runtime {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

class Builder {
 public:
  Builder(const Graph& graph, const ProgramOptions& options, ThreadPool& pool)
      : graph_(graph), options_(options), pool_(pool) {}

  Result<Program> Build() {
    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      const ir::Value& value = graph_.value(id);
      if (!value.erased && value.constant) fixed_.emplace(id, value.constant->tensor);
    }
    for (const ValueId id : graph_.inputs()) {
      program_.inputs.push_back(NewSlot(id, Layout::kPlain, Slot::Kind::kInput));
    }
    for (const NodeId id : graph_.nodes()) OCTAVO_CHECK(AddNode(id));
    for (const ValueId id : graph_.outputs()) {
      const int slot = SlotOf(id, Layout::kPlain);
      if (program_.slots[slot].kind == Slot::Kind::kBuffer) {
        program_.slots[slot].kind = Slot::Kind::kOutput;
      }
      program_.outputs.push_back(slot);
    }
    LayOut();
    return std::move(program_);
  }

 private:
  int NewSlot(ValueId id, Layout layout, Slot::Kind kind) {
    const ir::Type& type = graph_.type(id);
    const int slot = static_cast<int>(program_.slots.size());
    program_.slots.push_back(
        {.value = id, .layout = layout, .kind = kind, .dtype = type.dtype, .shape = type.shape});
    slots_[{id, layout}] = slot;
    return slot;
  }

  bool Exists(ValueId id, Layout layout) const { return slots_.count({id, layout}) > 0; }

  // Whether a reader that takes any layout is to have the value so.
  bool IsChannelsLast(ValueId id) const {
    if (Exists(id, Layout::kChannelsLast)) return true;
    const auto at = moved_.find(id);
    if (at == moved_.end() || Exists(id, Layout::kPlain)) return false;
    const auto canonical = CanonicalLayout(Layout::kChannelsLast, graph_.type(id).shape);
    if (canonical == Layout::kPlain || !Exists(at->second.base, canonical)) return false;
    const auto cost = [&](Layout layout) { return MovementTo(layout, at->second).Cost(); };
    return cost(Layout::kChannelsLast) < cost(Layout::kPlain);
  }

  // The layout of a moved value's base from which it is copied to `layout`.
  Layout BaseLayout(Layout layout, const Moved& moved) const {
    return Exists(moved.base, layout) ? layout : OtherThan(layout);
  }
  Movement MovementTo(Layout layout, const Moved& moved) const {
    return Movement(moved, graph_.type(moved.base).shape, BaseLayout(layout, moved), layout);
  }

  // The slot of a value in a layout, converted to it if there is none yet.
  int SlotOf(ValueId id, Layout layout) {
    layout = CanonicalLayout(layout, graph_.type(id).shape);
    if (const auto at = slots_.find({id, layout}); at != slots_.end()) return at->second;
    const auto fixed = fixed_.find(id);
    if (fixed != fixed_.end()) {
      const int slot = NewSlot(id, layout, Slot::Kind::kFixed);
      program_.slots[slot].fixed = InLayout(fixed->second, layout);
      return slot;
    }
    if (const auto moved = moved_.find(id); moved != moved_.end()) {
      return AddMovement(moved->second, id, layout);
    }
    const Layout other = OtherThan(layout);
    const int from = slots_.at({id, other});
    const int to = NewSlot(id, layout, Slot::Kind::kBuffer);
    const bool plain = layout == Layout::kPlain;
    Step step{.kernel = plain ? "to-plain" : "to-channels-last",
              .op = "Layout",
              .node = graph_.name(id),
              .inputs = {from},
              .results = {to}};
    step.prepared.run = [other](const StepContext& context) -> Status {
      ConvertLayout(context.in(0), other, context.out(), *context.pool);
      return {};
    };
    program_.steps.push_back(std::move(step));
    return to;
  }

  static Layout OtherThan(Layout layout) {
    return layout == Layout::kPlain ? Layout::kChannelsLast : Layout::kPlain;
  }

  // Copies a value from where it is shown, which may lie in either layout.
  int AddMovement(const Moved& moved, ValueId id, Layout layout) {
    const Movement movement = MovementTo(layout, moved);
    Step step{.kernel = "moved-codes",
              .op = graph_.Producer(id)->op->name,
              .node = graph_.Producer(id)->name,
              .inputs = {SlotOf(moved.base, BaseLayout(layout, moved))}};
    step.results = step.watched = {NewSlot(id, layout, Slot::Kind::kBuffer)};
    step.prepared.run = [movement](const StepContext& context) -> Status {
      movement.Run(context.in(0).raw(), context.out().mutable_raw(), *context.pool);
      return {};
    };
    const int slot = step.results[0];
    program_.steps.push_back(std::move(step));
    return slot;
  }

  // Leaves the results of a node that only moves elements to their readers.
  Status Move(const NodeView& view) {
    const ValueId operand = view.node.input(0);
    const auto at = moved_.find(operand);
    const Moved from =
        at != moved_.end() ? at->second : Moved{operand, OwnNumbers(graph_.type(operand).shape)};
    OCTAVO_TRY(const std::vector<Tensor> numbers, MovedNumbers(view, from.numbers, pool_));
    for (size_t i = 0; i < numbers.size(); ++i) {
      moved_[view.node.results[i]] = {from.base, numbers[i]};
    }
    return {};
  }

  Tensor InLayout(const Tensor& plain, Layout layout) {
    if (layout == Layout::kPlain) return plain;
    Tensor converted(plain.dtype(), plain.shape());
    ConvertLayout(plain, Layout::kPlain, converted, pool_);
    return converted;
  }

  bool AllFixed(const Node& node) const {
    for (const ValueId id : node.inputs) {
      if (id && !fixed_.count(id)) return false;
    }
    return true;
  }

  // A kernel that takes either layout goes on in the one that an operand has.
  Layout LayoutFor(const Kernel& kernel, const Node& node) const {
    if (kernel.layout == LayoutRule::kPlain) return Layout::kPlain;
    if (kernel.layout == LayoutRule::kChannelsLast) return Layout::kChannelsLast;
    for (size_t i = 0; i < std::min(kernel.images, node.inputs.size()); ++i) {
      const ValueId id = node.inputs[i];
      if (id && IsChannelsLast(id)) return Layout::kChannelsLast;
    }
    return Layout::kPlain;
  }

  NodeView ViewOf(const Node& node) const {
    return {.graph = graph_, .node = node, .fixed = fixed_, .numerics = options_.numerics};
  }

  Failure Undefined(const Node& node) const {
    return Fail(Code::kUnimplemented, "{} '{}': numerics mode '{}' does not define it for {}",
                node.op->name, node.name, ir::Name(options_.numerics),
                ir::ToString(graph_.type(node.result())))
        .Node(node.name);
  }

  Status AddNode(NodeId id) {
    const Node& node = graph_.node(id);
    if (AllFixed(node)) return Fold(node);
    const auto claim = claimed_.find(id);
    if (claim != claimed_.end()) return AddFused(claim->second);
    if (absorbed_.count(id)) return {};
    NodeView view = ViewOf(node);
    const Kernel* chosen = ChooseKernel(view);
    if (chosen == nullptr) return Undefined(node);
    if (const auto joined = joined_.find(id); joined != joined_.end()) {
      return AddJoined(view, joined->second);
    }
    OCTAVO_TRY(const bool is_claimed, Claims(*chosen, view));
    if (is_claimed) return {};
    if (options_.fuses && OnlyMoves(view)) return Move(view);
    view.layout = LayoutFor(*chosen, node);
    Step step = StepOf(*chosen, view);
    if (Tail tail{.part = PartOf(*chosen, view, node)}; tail.part) {
      OCTAVO_TRY(step.prepared, chosen->prepare_tail(view, tail));
      return FinishPart(std::move(step), *tail.part, node);
    }
    OCTAVO_TRY(step.prepared, chosen->prepare(view, pool_));
    Finish(std::move(step), node, view.layout);
    return {};
  }

  // A Concat some of whose operands are written to its result by what makes them.
  struct Joined {
    int slot = 0;
    std::vector<ValueId> placed = {};
  };

  // The part of a Concat's result that the step of `last`, which begins with the kernel's node,
  // can write at once.
  std::optional<JoinedPart> PartOf(const Kernel& kernel, const NodeView& view, const Node& last) {
    if (!options_.fuses || !kernel.joins) return std::nullopt;
    if (kernel.can_add != nullptr && !kernel.can_add(view)) return std::nullopt;
    const Layout layout = CanonicalLayout(view.layout, graph_.type(last.result()).shape);
    const auto part = PartOfConcat(graph_, last.result(), fixed_);
    return layout == view.layout ? part : std::nullopt;
  }

  Status FinishPart(Step step, const JoinedPart& part, const Node& node) {
    const auto [at, is_first] = joined_.emplace(part.concat, Joined{});
    if (is_first) {
      const ValueId result = graph_.node(part.concat).result();
      at->second.slot = NewSlot(result, Layout::kChannelsLast, Slot::Kind::kBuffer);
    }
    at->second.placed.push_back(node.result());
    step.results = {at->second.slot};
    program_.steps.push_back(std::move(step));
    return {};
  }

  Status AddJoined(NodeView view, const Joined& joined) {
    const Node& node = view.node;
    view.layout = Layout::kChannelsLast;
    std::vector<bool> is_placed;
    Step step{.kernel = "concat-codes", .op = node.op->name, .node = node.name};
    for (const ValueId id : node.inputs) {
      is_placed.push_back(std::ranges::count(joined.placed, id) > 0);
      step.inputs.push_back(is_placed.back() ? -1 : SlotOf(id, view.layout));
    }
    step.results = step.watched = {joined.slot};
    if (std::ranges::count(is_placed, false) > 0) {
      OCTAVO_TRY(step.prepared, JoinOthers(view, is_placed));
    }
    program_.steps.push_back(std::move(step));
    return {};
  }

  // A node that waits for what is behind it, to be computed together with it.
  struct Fused {
    const Node* node = nullptr;
    const Kernel* kernel = nullptr;
    Tail tail = {};
  };

  std::optional<FollowingAdd> AddFor(const Kernel& kernel, const NodeView& view) const {
    if (!kernel.adds || (kernel.can_add != nullptr && !kernel.can_add(view))) return std::nullopt;
    auto add = AddAfter(view);
    const bool is_free = add && !claimed_.count(add->node) && !absorbed_.count(add->node);
    return is_free && (!add->is_row || kernel.adds_rows) ? add : std::nullopt;
  }

  // Whether the node's step is left to the last of the nodes that follow.
  Result<bool> Claims(const Kernel& kernel, const NodeView& view) {
    if (!options_.fuses || kernel.prepare_tail == nullptr || !IsPlain8(view.out())) return false;
    Tail tail{.add = AddFor(kernel, view)};
    const ValueId result = tail.add ? graph_.node(tail.add->node).result() : view.node.result();
    OCTAVO_TRY(tail.table, TableAfter(view, result, pool_));
    if (!tail.last()) return false;
    if (tail.add && tail.table) absorbed_.insert(tail.add->node);
    claimed_.emplace(tail.last(), Fused{&view.node, &kernel, tail});
    return true;
  }

  Status AddFused(const Fused& fused) {
    NodeView view = ViewOf(*fused.node);
    view.layout = LayoutFor(*fused.kernel, *fused.node);
    Step step = StepOf(*fused.kernel, view);
    Tail tail = fused.tail;
    step.op = NameWithTail(step.op, tail);
    if (tail.add) step.inputs.push_back(SlotOf(tail.add->addend, view.layout));
    const Node& last = graph_.node(tail.last());
    tail.part = PartOf(*fused.kernel, view, last);
    OCTAVO_TRY(step.prepared, fused.kernel->prepare_tail(view, tail));
    if (tail.part) return FinishPart(std::move(step), *tail.part, last);
    Finish(std::move(step), last, view.layout);
    return {};
  }

  // With its operands; still to be prepared.
  Step StepOf(const Kernel& kernel, const NodeView& view) {
    const Node& node = view.node;
    Step step{.kernel = kernel.name,
              .isa = kernel.isa ? kernel.isa() : std::string_view(),
              .op = node.op->name,
              .node = node.name};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Layout layout = i < kernel.images ? view.layout : Layout::kPlain;
      step.inputs.push_back(node.inputs[i] ? SlotOf(node.inputs[i], layout) : -1);
    }
    return step;
  }

  // Gives a step its results, those of `node`.
  void Finish(Step step, const Node& node, Layout layout) {
    for (const ValueId id : node.results) {
      const Layout canonical = CanonicalLayout(layout, graph_.type(id).shape);
      step.results.push_back(NewSlot(id, canonical, Slot::Kind::kBuffer));
    }
    step.watched = step.results;
    program_.steps.push_back(std::move(step));
  }

  // Computes a node whose operands never change, once and for all.
  Status Fold(const Node& node) {
    const NodeView view = ViewOf(node);
    const Kernel* kernel = nullptr;
    for (const Kernel* candidate : MatchingKernels(view)) {
      if (kernel == nullptr && candidate->layout != LayoutRule::kChannelsLast) kernel = candidate;
    }
    if (kernel == nullptr) return Undefined(node);
    OCTAVO_TRY(const Prepared prepared, kernel->prepare(view, pool_));
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id ? &fixed_.at(id) : nullptr);
    std::vector<Tensor> results;
    for (const ValueId id : node.results) {
      results.emplace_back(graph_.type(id).dtype, graph_.type(id).shape);
    }
    Tensor scratch(ir::DType::kU8, {prepared.scratch_bytes});
    OCTAVO_CHECK(prepared.run(
        {.inputs = inputs, .results = results, .scratch = scratch.mutable_raw(), .pool = &pool_}));
    Step step{.kernel = "constant", .op = node.op->name, .node = node.name};
    for (size_t i = 0; i < results.size(); ++i) {
      fixed_.emplace(node.results[i], results[i]);
      step.watched.push_back(SlotOf(node.results[i], Layout::kPlain));
    }
    program_.steps.push_back(std::move(step));
    return {};
  }

  // Gives every buffer and every step's scratch its place in the workspace.
  void LayOut() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      for (const int slot : step.results) {
        Slot& written = program_.slots[slot];
        if (written.first < 0) written.first = static_cast<int>(s);
        written.last = static_cast<int>(s);
      }
      for (const int slot : step.inputs) {
        if (slot >= 0) program_.slots[slot].last = static_cast<int>(s);
      }
    }
    std::vector<BufferLife> lives;
    std::vector<int64_t*> offsets;
    for (Slot& slot : program_.slots) {
      if (slot.kind != Slot::Kind::kBuffer) continue;
      const int64_t bytes = ir::NumElements(slot.shape) * ir::SizeOf(slot.dtype);
      lives.push_back({bytes, slot.first, slot.last});
      offsets.push_back(&slot.offset);
    }
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      if (step.prepared.scratch_bytes == 0) continue;
      lives.push_back({step.prepared.scratch_bytes, static_cast<int>(s), static_cast<int>(s)});
      offsets.push_back(&step.scratch_offset);
    }
    const MemoryPlan plan = PlanMemory(lives);
    for (size_t i = 0; i < offsets.size(); ++i) *offsets[i] = plan.offsets[i];
    program_.workspace_bytes = plan.bytes;
  }

  const Graph& graph_;
  const ProgramOptions options_;
  ThreadPool& pool_;
  FixedValues fixed_;
  std::map<NodeId, Fused> claimed_;  // by the last of the nodes that follow
  std::set<NodeId> absorbed_;        // those between, which have no step of their own
  std::map<NodeId, Joined> joined_;  // by the Concat
  std::map<ValueId, Moved> moved_;
  std::map<std::pair<ValueId, Layout>, int> slots_;
  Program program_;
};

}  // namespace

Result<Program> BuildProgram(const Graph& graph, const ProgramOptions& options, ThreadPool& pool) {
  const bool may_change = options.fuses && options.numerics == ir::Numerics::kOnnx;
  const std::vector<ValueId> codes = may_change ? SignedActivations(graph) : std::vector<ValueId>();
  if (codes.empty()) return Builder(graph, options, pool).Build();
  auto own = std::make_shared<Graph>(graph);
  MakeUnsigned(codes, *own);
  OCTAVO_TRY(Program program, Builder(*own, options, pool).Build());
  program.own = std::move(own);
  return program;
}

}  // namespace octavo::runtime

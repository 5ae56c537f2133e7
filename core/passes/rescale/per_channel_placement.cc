// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/per_channel_placement.h"

#include <algorithm>

#include "core/ir/map_quant.h"
#include "core/ops/op_table.h"
#include "core/passes/analysis/data_movement.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/bias_rescale.h"
#include "core/passes/rescale/fold_conditions.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr int kMaxSteps = 32;  // ops that a Rescale may move past to reach a gain

bool PerChannel(const Type& type) { return type.quantized() && !type.quant->per_tensor(); }

class ChannelMover {
 public:
  ChannelMover(Graph& graph, Context& context) : graph_(graph), context_(context) {}

  Status Run() {
    for (const NodeId id : graph_.nodes()) {
      if (MovesAll(graph_, graph_.node(id))) Sink(id);
    }
    AbsorbIfMoved();
    std::vector<NodeId> order;
    for (const NodeId id : graph_.nodes()) order.push_back(id);
    for (auto id = order.rbegin(); id != order.rend(); ++id) HoistAll(*id);
    AbsorbIfMoved();
    return {};
  }

 private:
  const target::Target& target() const { return context_.settings().target; }
  bool Allows(const std::optional<Effect>& effect) const {
    return effect && *effect <= context_.settings().limit;
  }

  void AbsorbIfMoved() {
    if (moved_) AbsorbRescales(graph_, context_);
    moved_ = false;
  }

  // ------------------------------------------------------------ sinking

  // The Rescales that produce the data operands and have no other consumers.  Empty if an operand
  // has another producer, a Rescale has other consumers, or every type is per-tensor.
  std::vector<NodeId> Feeding(const Node& move) const {
    std::vector<NodeId> rescales;
    bool per_channel = false;
    for (const size_t i : DataInputs(move)) {
      const ValueId r = move.inputs[i];
      const Node* rescale = graph_.Producer(r);
      if (rescale == nullptr || !IsRescale(*rescale) || graph_.CountUses(r) != 1) return {};
      per_channel |= PerChannel(graph_.type(r)) || PerChannel(graph_.type(rescale->inputs[0]));
      rescales.push_back(graph_.value(r).producer);
    }
    return per_channel ? rescales : std::vector<NodeId>();
  }

  void SetOperands(NodeId move, const std::vector<ValueId>& values) {
    const std::vector<size_t> operands = DataInputs(graph_.node(move));
    for (size_t k = 0; k < values.size(); ++k) graph_.SetInput(move, operands[k], values[k]);
  }

  // The types of the move's results if it consumes `sources`; empty if some result cannot have a
  // type.
  std::vector<Type> TypesOf(NodeId id, const std::vector<ValueId>& sources) {
    std::vector<ValueId> operands;
    for (const size_t i : DataInputs(graph_.node(id))) {
      operands.push_back(graph_.node(id).inputs[i]);
    }
    SetOperands(id, sources);  // the axis rule looks up all operands in the graph
    std::vector<Type> types;
    for (size_t k = 0; k < graph_.node(id).results.size(); ++k) {
      if (const std::optional<Type> type = TypeOf(graph_.node(id), k)) types.push_back(*type);
    }
    const bool all = types.size() == graph_.node(id).results.size();
    SetOperands(id, operands);
    return all ? types : std::vector<Type>();
  }

  // The type of one result by the current types of all operands; nullopt if they disagree.
  std::optional<Type> TypeOf(const Node& move, size_t result) const {
    std::optional<Type> common;
    for (const size_t i : DataInputs(move)) {
      const Type& type = graph_.type(move.inputs[i]);
      const auto quant = ir::MapQuant(graph_, move, static_cast<int>(i), result, *type.quant);
      if (!quant) return std::nullopt;
      if (common && (common->dtype != type.dtype || common->quant != quant)) return std::nullopt;
      common = Type{type.dtype, graph_.type(move.results[result]).shape, quant, {}};
    }
    return common;
  }

  std::string WhyNot(const Node& move, Type from, const Type& to) const {
    from.shape = to.shape;
    return move.op->rescale.why_not ? move.op->rescale.why_not(graph_, move, from, to) : "";
  }

  // Whether Rescale(result : from) is a gain: if all its consumers can fold it, or if it can sink
  // further to where one can, or to where it converts fewer elements than `elements`.
  bool Gains(ValueId result, const Type& from, int64_t elements, int steps) const {
    const Type& to = graph_.type(result);
    if (to.elements() < elements) return true;
    const std::vector<ir::Use>& uses = graph_.value(result).uses;
    return !uses.empty() && !graph_.IsOutput(result) &&
           std::ranges::all_of(uses, [&](const ir::Use& use) {
             return CanFoldInto(use, from, to) ||
                    (uses.size() == 1 && CanSinkFurther(use, from, elements, steps));
           });
  }

  bool CanFoldInto(const ir::Use& use, Type from, const Type& to) const {
    from.shape = to.shape;
    const Node& consumer = graph_.node(use.node);
    const numerics::Mode& mode = *target().numerics;
    if (IsRescale(consumer)) {
      return Allows(CanMerge(from, to, graph_.type(consumer.result()), mode).effect);
    }
    return Allows(CanFoldIntoConsumer(graph_, target(), use, from, to).effect) &&
           WhyBiasStays(graph_, use.node, from, target().bias_bits).empty();
  }

  bool CanSinkFurther(const ir::Use& use, const Type& from, int64_t elements, int steps) const {
    const Node& move = graph_.node(use.node);
    if (steps == 0 || !Moves(graph_, move)) return false;
    const std::optional<ir::Quant> quant = QuantAfter(graph_, move, *from.quant);
    const Type& to = graph_.type(move.result());
    if (!quant || !WhyNot(move, from, graph_.type(move.inputs[0])).empty()) return false;
    return Gains(move.result(), {from.dtype, to.shape, quant, {}}, elements, steps - 1);
  }

  void Sink(NodeId id) {
    const std::vector<NodeId> rescales = Feeding(graph_.node(id));
    if (rescales.empty()) return;
    const std::string name = graph_.node(rescales.front()).name;
    std::vector<ValueId> sources;
    int64_t elements = 0;
    for (const NodeId rescale : rescales) {
      sources.push_back(graph_.node(rescale).inputs[0]);
      elements += graph_.type(sources.back()).elements();
    }
    const Node& move = graph_.node(id);
    int64_t after = 0;
    for (const ValueId result : move.results) {
      if (!graph_.type(result).quantized()) return;
      after += graph_.type(result).elements();
    }
    const std::vector<Type> types = TypesOf(id, sources);
    if (types.empty() || !HasActivations(target(), types.front().dtype)) {
      context_.Keep(name,
                    fmt::format("its per-channel parameters cannot be expressed after {} '{}'",
                                move.op->name, move.name));
      return;
    }
    const Type& operand = graph_.type(move.inputs[DataInputs(move).front()]);
    if (std::string why = WhyNot(move, graph_.type(sources.front()), operand); !why.empty()) {
      context_.Keep(name, std::move(why));
      return;
    }
    bool all_gain = true;
    for (size_t k = 0; k < types.size() && all_gain; ++k) {
      all_gain = Gains(move.results[k], types[k], types[k].elements(), kMaxSteps);
    }
    if (after < elements || all_gain) WriteBelow(id, rescales, sources, types);
  }

  void WriteBelow(NodeId id, const std::vector<NodeId>& rescales,
                  const std::vector<ValueId>& sources, const std::vector<Type>& types) {
    SetOperands(id, sources);
    for (const NodeId rescale : rescales) graph_.Erase(rescale);
    NodeId last = id;
    for (size_t k = 0; k < types.size(); ++k) {
      const ValueId result = graph_.node(id).results[k];
      const Type old_type = graph_.type(result);
      if (graph_.IsOutput(result)) {
        const std::string kept = graph_.UniqueName(graph_.name(result) + ".kept");
        graph_.Interpose(result, kept, types[k], {.op = ops::FindOp("Rescale", "octavo")});
        context_.Applied(kSinkPerChannel, graph_.node(id).name, {kept, graph_.name(result)});
        continue;
      }
      graph_.SetType(result, types[k]);
      const std::vector<ir::Use> uses = graph_.value(result).uses;
      if (uses.empty()) continue;
      const std::string name = graph_.UniqueName(graph_.name(result) + ".r");
      last = graph_.InsertAfter(last, {.op = ops::FindOp("Rescale", "octavo"),
                                       .inputs = {result},
                                       .results = {{name, old_type}}});
      for (const ir::Use& use : uses) {
        graph_.SetInput(use.node, use.input, graph_.node(last).result());
      }
      context_.Applied(kSinkPerChannel, graph_.node(id).name, {graph_.name(result), name});
    }
    moved_ = true;
    context_.Checkpoint(graph_);
  }

  // ------------------------------------------------------------ hoisting

  // Whether Rescale(x) : to is a gain: if the producer of x can fold it, or if it can be hoisted
  // further to where one can, or to where it converts fewer elements than `elements`.
  bool GainsAbove(ValueId x, const Type& to, int64_t elements, int steps) const {
    if (graph_.type(x).elements() < elements) return true;
    const Node* producer = graph_.Producer(x);
    if (producer == nullptr || graph_.CountUses(x) != 1) return false;
    if (IsRescale(*producer)) {
      const Type& from = graph_.type(producer->inputs[0]);
      return Allows(CanMerge(from, graph_.type(x), to, *target().numerics).effect);
    }
    if (Allows(CanFoldIntoProducer(graph_, target(), x, graph_.type(x), to).effect)) return true;
    if (steps == 0) return false;
    const std::optional<Type> before = TypeAbove(*producer, to);
    return before && GainsAbove(producer->inputs[0], *before, elements, steps - 1);
  }

  // The operand type with which a move computes a result of type `to`.
  std::optional<Type> TypeAbove(const Node& move, const Type& to) const {
    if (!Moves(graph_, move)) return std::nullopt;
    const Type& x = graph_.type(move.inputs[0]);
    const std::optional<ir::Quant> quant = QuantBefore(graph_, move, *to.quant);
    if (!quant) return std::nullopt;
    Type before{to.dtype, x.shape, quant, {}};
    if (!WhyNot(move, x, before).empty()) return std::nullopt;
    return before;
  }

  void HoistAll(NodeId id) {
    for (int step = 0; step < kMaxSteps && Hoist(id); ++step) id = hoisted_;
  }

  bool Hoist(NodeId id) {
    const Node& rescale = graph_.node(id);
    if (rescale.erased || !IsRescale(rescale)) return false;
    const ValueId moved = rescale.inputs[0], r = rescale.result();
    const Type& to = graph_.type(r);
    if (!PerChannel(to) && !PerChannel(graph_.type(moved))) return false;
    const Node* move = graph_.Producer(moved);
    if (move == nullptr || !Moves(graph_, *move) || graph_.CountUses(moved) != 1) return false;
    const ValueId x = move->inputs[0];
    const std::optional<Type> before = TypeAbove(*move, to);
    if (!before) {
      context_.Keep(rescale.name,
                    fmt::format("its per-channel parameters cannot be expressed before {} '{}'",
                                move->op->name, move->name));
      return false;
    }
    if (!HasActivations(target(), to.dtype)) return false;
    if (!GainsAbove(x, *before, to.elements(), kMaxSteps)) return false;
    const NodeId move_id = graph_.value(moved).producer;
    const std::string name = graph_.UniqueName(graph_.name(x) + ".r");
    context_.Applied(kHoistPerChannel, move->name, {graph_.name(moved), graph_.name(r)});
    hoisted_ = graph_.InsertBefore(move_id,
                                   {.op = rescale.op, .inputs = {x}, .results = {{name, *before}}});
    std::vector<ValueId> inputs = graph_.node(move_id).inputs;
    inputs[0] = graph_.node(hoisted_).result();
    graph_.Redefine(id, graph_.node(move_id).op, std::move(inputs),
                    graph_.node(move_id).attributes);
    graph_.AddOrigin(id, graph_.node(move_id).origin);
    graph_.Erase(move_id);
    moved_ = true;
    context_.Checkpoint(graph_);
    return true;
  }

  Graph& graph_;
  Context& context_;
  NodeId hoisted_ = {};  // the Rescale that Hoist inserted last
  bool moved_ = false;
};

}  // namespace

Status MoveChannelRescales(Graph& graph, Context& context) {
  return ChannelMover(graph, context).Run();
}

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/absorb.h"

#include "core/ops/op_table.h"
#include "core/passes/analysis/rescale_chain.h"
#include "core/passes/rescale/absorb_rules.h"
#include "core/passes/rescale/bias_rescale.h"
#include "core/passes/rescale/fold_conditions.h"
#include "core/passes/rescale/output_name.h"
#include "core/passes/rescale/rescale_equivalents.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

namespace rules = absorb_rules;

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

class Absorber {
 public:
  Absorber(Graph& graph, Context& context)
      : graph_(graph), context_(context), order_follows_(graph) {}

  int64_t Run() {
    int64_t total = 0;
    for (int64_t applied = 1; applied > 0; total += applied) {
      applied = 0;
      for (const NodeId id : graph_.nodes()) {
        applied += Visit(id);
        context_.Checkpoint(graph_);
      }
    }
    for (const NodeId id : graph_.nodes()) {
      if (IsRescale(graph_.node(id))) context_.Keep(graph_.node(id).name, WhyKept(id));
    }
    return total;
  }

 private:
  int Visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (IsOwn(node, "Quantize")) return PairToRescale(id);
    if (IsOwn(node, "Dequantize")) return FoldIntoDequantize(id);
    if (IdentityToRescale(graph_, id, context_) || SinkBelowTopK(graph_, id, context_)) return 1;
    if (!IsRescale(node)) return 0;
    why_[id] = {};
    return RemoveIdentity(id) || CancelRoundTrip(id) || Merge(id) || FoldIntoProducer(id) ||
           FoldConstantRescale(graph_, id, context_) || FoldIntoConsumers(id);
  }

  const Node* ProducerOf(const Node& node) const { return graph_.Producer(node.inputs[0]); }

  // Why a Rescale stays: reasons on its producer's side (above) and on its consumers' side (below).
  struct Reasons {
    std::string above = {}, below = {};
  };

  static void Add(std::string& reasons, std::string_view reason) {
    if (reason.empty() || reasons.find(reason) != std::string::npos) return;
    if (!reasons.empty()) reasons += "; ";
    reasons += reason;
  }

  bool Allowed(std::string& why, const FoldCheck& check, const Rule& rule) {
    if (check.effect && context_.Allows(*check.effect)) return true;
    Add(why, check.why);
    if (!check.effect) return false;
    Add(why, fmt::format("{} has the effect {}, which exceeds the limit {}", rule.id,
                         Name(*check.effect), Name(context_.settings().limit)));
    return false;
  }

  const target::Target& target() const { return context_.settings().target; }
  const numerics::Mode& mode() const { return *target().numerics; }

  bool CanReplace(ValueId r, ValueId to) const {
    return !graph_.IsOutput(r) || CanBecomeOutput(graph_, to);
  }

  // Whether a pass made the value for `r` and named it after `r`: `r.float.q`.
  bool IsMadeFor(ValueId r, ValueId value) const {
    return graph_.name(value).starts_with(graph_.name(r) + ".");
  }

  // Makes consumers of the Rescale's result read `to` and removes it.  An output, and a name of the
  // model that `to` only extends, stay.
  void Replace(NodeId id, ValueId to) {
    const ValueId r = graph_.node(id).result();
    if (graph_.IsOutput(r) || (IsMadeFor(r, to) && CanBecomeOutput(graph_, to))) {
      return ComputeAsOutput(graph_, r, to);
    }
    graph_.Forward(r, to);
    graph_.Erase(id);
  }

  bool RemoveIdentity(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = node.inputs[0];
    const ValueId r = node.result();
    if (!graph_.type(x).SameQuantization(graph_.type(r))) return false;
    if (!CanReplace(r, x)) {
      why_[id].below = "its result is a graph output, and its operand cannot take over the name";
      return false;
    }
    context_.Applied(rules::kRemoveIdentity, node.name, {graph_.name(r), graph_.name(x)});
    Replace(id, x);
    return true;
  }

  int PairToRescale(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsOwn(*producer, "Dequantize")) return 0;
    const ValueId x = producer->inputs[0];
    const ValueId dequantized = node.inputs[0];
    const Effect effect =
        mode().rescale_is_quantize_of_dequantize ? Effect::kExact : Effect::kNewArithmetic;
    if (!context_.Allows(effect)) {
      context_.Keep(node.name,
                    fmt::format("in mode {} a Rescale rounds differently than Dequantize and "
                                "Quantize, and the effect new-arithmetic exceeds the limit {}",
                                mode().name, Name(context_.settings().limit)));
      return 0;
    }
    context_.Applied(rules::kDequantizeQuantizeToRescale, effect, node.name,
                     {graph_.name(dequantized), graph_.name(node.result())});
    const NodeId dequantize = graph_.value(dequantized).producer;
    graph_.Redefine(id, ops::FindOp("Rescale", "octavo"), {x}, {});
    if (graph_.CountUses(dequantized) == 0) graph_.Erase(dequantize);
    return 1;
  }

  int FoldIntoDequantize(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return 0;
    const NodeId rescale = graph_.value(node.inputs[0]).producer;
    const ValueId x = producer->inputs[0];
    const FoldCheck check =
        CanFoldIntoConsumer(graph_, target(), {id, 0}, graph_.type(x), graph_.type(node.inputs[0]));
    if (!Allowed(why_[rescale].below, check, rules::kFoldIntoDequantize)) return 0;
    context_.Applied(rules::kFoldIntoDequantize, *check.effect, node.name,
                     {graph_.name(node.inputs[0]), graph_.name(x)});
    graph_.SetInput(id, 0, x);
    EraseIfUnused(rescale);
    return 1;
  }

  void EraseIfUnused(NodeId id) {
    if (graph_.CountUses(graph_.node(id).result()) == 0) graph_.Erase(id);
  }

  // Connects the second Rescale of a chain to the first one's operand.  If the chain returns to its
  // first type, the second Rescale becomes an identity.
  bool Shorten(NodeId id, const Rule& rule, Effect effect) {
    const Node& node = graph_.node(id);
    const ValueId middle = node.inputs[0];
    const NodeId first = graph_.value(middle).producer;
    context_.Applied(rule, effect, node.name, {graph_.name(middle), graph_.name(node.result())});
    graph_.SetInput(id, 0, graph_.node(first).inputs[0]);
    EraseIfUnused(first);
    return true;
  }

  bool CancelRoundTrip(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return false;
    const ValueId x = producer->inputs[0];
    const Type &from = graph_.type(x), &middle = graph_.type(node.inputs[0]);
    if (!from.SameQuantization(graph_.type(node.result()))) return false;
    if (!SameResults({&from, &middle, &from}, {&from}, mode())) return false;
    Shorten(id, rules::kCancel, Effect::kExact);
    if (CanReplace(graph_.node(id).result(), x)) Replace(id, x);
    return true;
  }

  bool Merge(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return false;
    const FoldCheck check = CanMerge(graph_, node, mode(), order_follows_);
    return Allowed(why_[id].above, check, rules::kMerge) &&
           Shorten(id, rules::kMerge, *check.effect);
  }

  // Makes the producer of the Rescale's operand compute the Rescale's type directly.
  bool FoldIntoProducer(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = node.inputs[0];
    const ValueId r = node.result();
    const FoldCheck check =
        CanFoldIntoProducer(graph_, target(), x, graph_.type(x), graph_.type(r));
    if (!check.effect) {
      Add(why_[id].above, check.why.empty() ? WhyProducerKeepsType(x) : check.why);
      return false;
    }
    if (IsPending(x) && (graph_.CountUses(x) > 1 || graph_.IsOutput(r))) {
      return RequantizeConstant(id, check);
    }
    if (graph_.CountUses(x) > 1) {
      why_[id].above = fmt::format("'{}' has other consumers", graph_.name(x));
      return false;
    }
    const Rule& rule =
        IsOwn(*ProducerOf(node), "Quantize") ? rules::kFoldIntoQuantize : rules::kFoldIntoProducer;
    if (!Allowed(why_[id].above, check, rule)) return false;
    context_.Applied(rule, *check.effect, node.name, {graph_.name(x), graph_.name(r)});
    graph_.SetType(x, graph_.type(r));
    Replace(id, x);
    return true;
  }

  bool IsPending(ValueId x) const {
    const Node* producer = graph_.Producer(x);
    return IsOwn(producer, "Quantize") && graph_.IsConstant(producer->inputs[0]);
  }

  // A constant that is not rounded yet can have parameters of its own for these consumers.
  bool RequantizeConstant(NodeId id, const FoldCheck& check) {
    if (!Allowed(why_[id].above, check, rules::kFoldIntoQuantize)) return false;
    const Node& node = graph_.node(id);
    const ValueId pending = node.inputs[0];
    const NodeId quantize = graph_.value(pending).producer;
    context_.Applied(rules::kFoldIntoQuantize, *check.effect, node.name,
                     {graph_.name(pending), graph_.name(node.result())});
    const ir::OpDef* op = graph_.node(quantize).op;
    const std::vector<ValueId> inputs = graph_.node(quantize).inputs;
    graph_.Redefine(id, op, inputs, {});
    EraseIfUnused(quantize);
    return true;
  }

  bool FoldIntoConsumers(NodeId id) {
    const ValueId r = graph_.node(id).result();
    bool any = false;
    const std::vector<ir::Use> uses = graph_.value(r).uses;
    for (const ir::Use& use : uses) any |= FoldIntoConsumer(id, use);
    if (graph_.IsOutput(r)) Add(why_[id].below, "its result is a graph output");
    if (graph_.CountUses(r) > 0) return any;
    graph_.Erase(id);
    return true;
  }

  bool FoldIntoConsumer(NodeId id, const ir::Use& use) {
    const Node consumer = graph_.node(use.node);  // a copy: re-expressing a bias adds nodes
    const ValueId x = graph_.node(id).inputs[0];
    const ValueId r = graph_.node(id).result();
    const Type from = graph_.type(x);
    const Type to = graph_.type(r);
    if (IsOwn(consumer, "Dequantize")) return false;  // FoldIntoDequantize handles it
    if (IsRescale(consumer)) {                        // Merge handles it
      Add(why_[id].below, fmt::format("its consumer, the Rescale '{}', stays", consumer.name));
      return false;
    }
    const FoldCheck check = CanFoldIntoConsumer(graph_, target(), use, from, to);
    const Rule& rule = check.clamped_again      ? rules::kFoldIntoClamp
                       : check.depends_on_order ? rules::kFoldIntoArgMax
                                                : rules::kFoldIntoConsumer;
    if (!Allowed(why_[id].below, check, rule)) return false;
    const int bits = target().bias_bits;
    if (const std::string why = ReexpressBias(graph_, use.node, from, bits); !why.empty()) {
      Add(why_[id].below, why);
      return false;
    }
    context_.Applied(rule, *check.effect, consumer.name, {graph_.name(r), graph_.name(x)});
    graph_.SetInput(use.node, use.input, x);
    return true;
  }

  // Why the producer of `x` cannot compute another type.
  std::string WhyProducerKeepsType(ValueId x) const {
    const Node* producer = graph_.Producer(x);
    if (producer == nullptr) return fmt::format("no node computes '{}'", graph_.name(x));
    if (IsRescale(*producer)) return {};  // Merge reports the reason
    const bool moves =
        producer->op->QuantOf(graph_, *producer).kind == ir::QuantRule::Kind::kSameScale;
    return fmt::format(
        "{} '{}' {}", producer->op->name, producer->name,
        moves ? "requires identical quantization parameters on all inputs and its output"
              : "has a fixed result type");
  }

  std::string WhyKept(NodeId id) const {
    const auto at = why_.find(id);
    if (at == why_.end()) return "no rule matches its producer or its consumers";
    std::string reasons = at->second.above;
    Add(reasons, at->second.below);
    return reasons.empty() ? "no rule matches its producer or its consumers" : reasons;
  }

  Graph& graph_;
  Context& context_;
  const OrderFollows order_follows_;
  std::unordered_map<NodeId, Reasons> why_;
};

}  // namespace

int64_t AbsorbRescales(Graph& graph, Context& context) { return Absorber(graph, context).Run(); }

bool IsRescale(const Node& node) { return IsOwn(node, "Rescale"); }

}  // namespace octavo::passes

//   cancelled        Rescale(x) : t(x)                ->  x                        exact
//   pair-merged      Quantize(Dequantize(x)) : t      ->  x, or Rescale(x) : t     exact
//                    new arithmetic where the mode's Rescale is no such pair
//   returned         Rescale(Rescale(x) : t2) : t(x)  ->  x                        exact
//   merged           Rescale(Rescale(x))              ->  Rescale(x)               fewer roundings
//                    exact where all codes prove it
//   into-quantize    Rescale(Quantize(x)) : t         ->  Quantize(x) : t          fewer roundings
//   into-dequantize  Dequantize(Rescale(x))           ->  Dequantize(x)            fewer roundings
//   combined-up      Rescale(Op(..)) : t              ->  Op(..) : t               fewer roundings
//   combined-down    Op(Rescale(x), ..)               ->  Op(x, ..)                fewer roundings
//   clamp-absorbed   Clamp(Rescale(x) : t) : t        ->  Clamp(x) : t             exact
//   order-kept       ArgMax(Rescale(x))               ->  ArgMax(x)                exact
//   order-sunk       TopK(Rescale(x))                 ->  Rescale(TopK(x))         exact
//   constant-rescaled  Rescale(constant)              ->  constant                 exact
//   disguised        Op(x) : t                        ->  Rescale(x) : t           exact
// Each loses a clamp where the omitted type is too narrow for the reals that matter, and then
// counts as fewer clamps; but a clamp at zero that may be a Relu's is lost by none
// (relu_in_type.h).
#include "core/passes/absorb.h"

#include "core/ops/op_table.h"
#include "core/passes/bias_rescale.h"
#include "core/passes/border.h"
#include "core/passes/code_map.h"
#include "core/passes/rescale_forms.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kCancelled = {"cancelled", "Rescale(x) : t(x) -> x", Effect::kExact,
                             "same parameters"};
constexpr Rule kPairMerged = {"pair-merged", "Quantize(Dequantize(x)) : t -> x or Rescale(x) : t",
                              Effect::kExact,
                              "exact where the mode's Rescale is that pair (onnx, "
                              "glow-interpreter), else new-arithmetic"};
constexpr Rule kReturned = {"returned", "Rescale(Rescale(x) : t2) : t(x) -> x", Effect::kExact,
                            "every code that occurs in x returns to itself, by enumeration (8 and "
                            "16 bits, any scales, the mode's own Rescale)"};
constexpr Rule kMerged = {
    "merged", "Rescale(Rescale(x) : t2) : t3 -> Rescale(x) : t3", Effect::kFewerRoundings,
    "range(t1) and range(t3) meet inside range(t2), else fewer-clamps; t2 ends "
    "at zero only where t1 or t3 does; exact where the two give equal codes, "
    "by enumeration"};
constexpr Rule kIntoQuantize = {
    "into-quantize", "Rescale(Quantize(x) : t1) : t -> Quantize(x) : t", Effect::kFewerRoundings,
    "one reader, or x a constant; t1 ends at zero only where t does or x is computed so; range(t) "
    "inside range(t1), else fewer-clamps"};
constexpr Rule kIntoDequantize = {"into-dequantize", "Dequantize(Rescale(x) : t2) -> Dequantize(x)",
                                  Effect::kFewerRoundings,
                                  "range(t1) inside range(t2), else fewer-clamps; t2 ends at zero "
                                  "only where t1 does"};
constexpr Rule kCombinedUp = {
    "combined-up", "Rescale(Op(..) : t1) : t3 -> Op(..) : t3", Effect::kFewerRoundings,
    "Op's result parameters are free; one reader; t1 ends at zero only where t3 does or Op does; "
    "range(t3) inside range(t1), else fewer-clamps; "
    "exact where Op chooses among codes of t1 (Max, Min, Relu; Clip whose bounds are such)"};
constexpr Rule kCombinedDown = {"combined-down", "Op(Rescale(x : t1) : t2, ..) -> Op(x, ..)",
                                Effect::kFewerRoundings,
                                "Op scales that operand itself; t2 ends at zero only where t1 or "
                                "Op does; range(t1) inside range(t2), else "
                                "fewer-clamps; a bias is re-expressed at the new scales"};
constexpr Rule kClampAbsorbed = {
    "clamp-absorbed", "Clamp(Rescale(x) : t, ..) : t -> Clamp(x, ..) : t", Effect::kExact,
    "Relu, Clip, Max or Min whose result has the Rescale's own type; "
    "not glow-cpu's Clip"};
constexpr Rule kOrderKept = {"order-kept", "ArgMax(Rescale(x)) -> ArgMax(x)", Effect::kExact,
                             "ArgMax or ArgMin; the Rescale gives different codes for different "
                             "codes that occur, by enumeration"};
constexpr Rule kRules[] = {kCancelled,    kPairMerged,     kReturned,         kMerged,
                           kIntoQuantize, kIntoDequantize, kConstantRescaled, kDisguised,
                           kCombinedUp,   kCombinedDown,   kClampAbsorbed,    kOrderKept,
                           kOrderSunk};

// Modes whose Rescale is Quantize(Dequantize(q)).
bool IsPair(ir::Numerics mode) {
  return mode == ir::Numerics::kOnnx || mode == ir::Numerics::kGlowInterpreter;
}

bool SameType(const Type& a, const Type& b) { return a.dtype == b.dtype && a.quant == b.quant; }

class Absorber {
 public:
  Absorber(Graph& graph, Context& context) : graph_(graph), context_(context) {}

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
    if (IsOwn(node, "Quantize")) return MergePair(id);
    if (IsOwn(node, "Dequantize")) return IntoDequantize(id);
    if (Disguise(graph_, id, context_) || SinkBelowOrder(graph_, id, context_)) return 1;
    if (!IsRescale(node)) return 0;
    why_[id] = {};
    return Cancel(id) || Return(id) || Merge(id) || CombineUp(id) ||
           RescaleConstant(graph_, id, context_) || CombineDown(id);
  }

  const Node* ProducerOf(const Node& node) const { return graph_.Producer(node.inputs[0]); }

  // Why a Rescale stays, by what stands above it and by what reads it.
  struct Reasons {
    std::string above = {}, below = {};
  };

  static void Add(std::string& reasons, std::string_view reason) {
    if (reason.empty() || reasons.find(reason) != std::string::npos) return;
    if (!reasons.empty()) reasons += "; ";
    reasons += reason;
  }

  bool Allowed(std::string& why, Effect effect, std::string_view law) {
    if (context_.Allows(effect)) return true;
    Add(why, fmt::format("{} would have the effect {}, past the limit {}", law, Name(effect),
                         Name(context_.settings().limit)));
    return false;
  }

  const target::Target& target() const { return context_.settings().target; }
  ir::Numerics mode() const { return target().numerics; }

  // Readers of the Rescale's result read `to`; the Rescale goes.
  void Replace(NodeId id, ValueId to) {
    graph_.Forward(graph_.node(id).result(), to);
    graph_.Erase(id);
  }

  bool Cancel(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = node.inputs[0];
    const ValueId r = node.result();
    if (!SameType(graph_.type(x), graph_.type(r))) return false;
    if (graph_.IsOutput(r)) {
      why_[id].below = "it carries a graph output's name";
      return false;
    }
    context_.Applied(kCancelled, node.name, {graph_.name(r), graph_.name(x)});
    Replace(id, x);
    return true;
  }

  int MergePair(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsOwn(*producer, "Dequantize")) return 0;
    const ValueId x = producer->inputs[0];
    const ValueId dequantized = node.inputs[0];
    const Effect effect = IsPair(mode()) ? Effect::kExact : Effect::kNewArithmetic;
    if (!context_.Allows(effect)) {
      context_.Keep(node.name, fmt::format("a Rescale in the mode {} is other arithmetic than "
                                           "Quantize of Dequantize, past the limit {}",
                                           Name(mode()), Name(context_.settings().limit)));
      return 0;
    }
    context_.Applied(kPairMerged, effect, node.name,
                     {graph_.name(dequantized), graph_.name(node.result())});
    const NodeId dequantize = graph_.value(dequantized).producer;
    graph_.Redefine(id, ops::FindOp("Rescale", "octavo"), {x}, {});
    if (graph_.CountUses(dequantized) == 0) graph_.Erase(dequantize);
    return 1;
  }

  int IntoDequantize(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return 0;
    const NodeId rescale = graph_.value(node.inputs[0]).producer;
    const ValueId x = producer->inputs[0];
    const Offer offer =
        OfferToRead(graph_, target(), {id, 0}, graph_.type(x), graph_.type(node.inputs[0]));
    if (!offer.effect) {
      Add(why_[rescale].below, offer.why);
      return 0;
    }
    const Effect effect = *offer.effect;
    if (!Allowed(why_[rescale].below, effect, kIntoDequantize.name)) return 0;
    context_.Applied(kIntoDequantize, effect, node.name,
                     {graph_.name(node.inputs[0]), graph_.name(x)});
    graph_.SetInput(id, 0, x);
    EraseIfUnread(rescale);
    return 1;
  }

  void EraseIfUnread(NodeId id) {
    if (graph_.CountUses(graph_.node(id).result()) == 0) graph_.Erase(id);
  }

  // The second Rescale of a chain reads the first one's operand; for a chain that returns, that
  // leaves one that says nothing.
  bool Shorten(NodeId id, const Rule& rule, Effect effect) {
    const Node& node = graph_.node(id);
    const ValueId middle = node.inputs[0];
    const NodeId first = graph_.value(middle).producer;
    context_.Applied(rule, effect, node.name, {graph_.name(middle), graph_.name(node.result())});
    graph_.SetInput(id, 0, graph_.node(first).inputs[0]);
    EraseIfUnread(first);
    return true;
  }

  bool Return(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return false;
    const ValueId x = producer->inputs[0];
    const Type &from = graph_.type(x), &middle = graph_.type(node.inputs[0]);
    if (!SameType(from, graph_.type(node.result()))) return false;
    if (!SameCodesBy({&from, &middle, &from}, {&from}, mode())) return false;
    Shorten(id, kReturned, Effect::kExact);
    if (graph_.IsOutput(graph_.node(id).result())) return true;
    Replace(id, x);
    return true;
  }

  bool Merge(NodeId id) {
    const Node& node = graph_.node(id);
    const Node* producer = ProducerOf(node);
    if (producer == nullptr || !IsRescale(*producer)) return false;
    const Type &from = graph_.type(producer->inputs[0]), &to = graph_.type(node.result());
    const ValueId middle = node.inputs[0];
    const Offer offer = OfferToMerge(from, graph_.type(middle), to, mode(), graph_.name(middle));
    if (!offer.effect) {
      Add(why_[id].above, offer.why);
      return false;
    }
    return Allowed(why_[id].above, *offer.effect, kMerged.name) &&
           Shorten(id, kMerged, *offer.effect);
  }

  // The producer of the Rescale's operand computes the Rescale's type at once.
  bool CombineUp(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = node.inputs[0];
    const ValueId r = node.result();
    const Offer offer = OfferToGive(graph_, target(), x, graph_.type(x), graph_.type(r));
    if (!offer.effect) {
      Add(why_[id].above, offer.why.empty() ? WhyGiven(x) : offer.why);
      return false;
    }
    if (IsPending(x) && (graph_.CountUses(x) > 1 || graph_.IsOutput(r))) {
      return QuantizeAgain(id, *offer.effect);
    }
    if (graph_.CountUses(x) > 1) {
      why_[id].above = fmt::format("'{}' has other readers", graph_.name(x));
      return false;
    }
    if (graph_.IsOutput(r)) {
      why_[id].below = "it carries a graph output's name";
      return false;
    }
    const Rule& rule = IsOwn(*ProducerOf(node), "Quantize") ? kIntoQuantize : kCombinedUp;
    if (!Allowed(why_[id].above, *offer.effect, rule.name)) return false;
    context_.Applied(rule, *offer.effect, node.name, {graph_.name(x), graph_.name(r)});
    graph_.SetType(x, graph_.type(r));
    Replace(id, x);
    return true;
  }

  bool IsPending(ValueId x) const {
    const Node* producer = graph_.Producer(x);
    return IsOwn(producer, "Quantize") && graph_.IsConstant(producer->inputs[0]);
  }

  // A constant that is not rounded yet can be given parameters for these readers alone.
  bool QuantizeAgain(NodeId id, Effect effect) {
    if (!Allowed(why_[id].above, effect, kIntoQuantize.name)) return false;
    const Node& node = graph_.node(id);
    const ValueId pending = node.inputs[0];
    const NodeId quantize = graph_.value(pending).producer;
    context_.Applied(kIntoQuantize, effect, node.name,
                     {graph_.name(pending), graph_.name(node.result())});
    const ir::OpDef* op = graph_.node(quantize).op;
    const std::vector<ValueId> inputs = graph_.node(quantize).inputs;
    graph_.Redefine(id, op, inputs, {});
    EraseIfUnread(quantize);
    return true;
  }

  bool CombineDown(NodeId id) {
    const ValueId r = graph_.node(id).result();
    bool any = false;
    const std::vector<ir::Use> uses = graph_.value(r).uses;
    for (const ir::Use& use : uses) any |= PullThrough(id, use);
    if (graph_.CountUses(r) > 0) return any;
    graph_.Erase(id);
    return true;
  }

  bool PullThrough(NodeId id, const ir::Use& use) {
    const Node reader = graph_.node(use.node);  // a copy: re-expressing a bias adds nodes
    const ValueId x = graph_.node(id).inputs[0];
    const ValueId r = graph_.node(id).result();
    const Type from = graph_.type(x);
    const Type to = graph_.type(r);
    if (IsOwn(reader, "Dequantize")) return false;  // into-dequantize sees to it
    if (IsRescale(reader)) {                        // merged sees to it
      Add(why_[id].below, fmt::format("the Rescale '{}' below it stays", reader.name));
      return false;
    }
    const Offer offer = OfferToRead(graph_, target(), use, from, to);
    if (!offer.effect) {
      Add(why_[id].below, offer.why);
      return false;
    }
    const Rule& rule = offer.clamped_again ? kClampAbsorbed
                       : offer.order_kept  ? kOrderKept
                                           : kCombinedDown;
    if (!Allowed(why_[id].below, *offer.effect, rule.name)) return false;
    const int bits = target().bias_bits;
    if (const std::string why = ReexpressBias(graph_, use.node, from, bits); !why.empty()) {
      Add(why_[id].below, why);
      return false;
    }
    context_.Applied(rule, *offer.effect, reader.name, {graph_.name(r), graph_.name(x)});
    graph_.SetInput(use.node, use.input, x);
    return true;
  }

  // Why the producer of `x` gives no other type.
  std::string WhyGiven(ValueId x) const {
    const Node* producer = graph_.Producer(x);
    if (producer == nullptr) return fmt::format("'{}' comes as it is", graph_.name(x));
    if (IsRescale(*producer)) return {};  // merged says why
    const bool moves =
        producer->op->QuantOf(graph_, *producer).kind == ir::QuantRule::Kind::kSameAsInput;
    return fmt::format("{} '{}' gives {}", producer->op->name, producer->name,
                       moves ? "the type of its operand" : "one type only");
  }

  std::string WhyKept(NodeId id) const {
    const auto at = why_.find(id);
    if (at == why_.end()) return "no law applies to its neighbours";
    std::string reasons = at->second.above;
    Add(reasons, at->second.below);
    return reasons.empty() ? "no law applies to its neighbours" : reasons;
  }

  Graph& graph_;
  Context& context_;
  std::unordered_map<NodeId, Reasons> why_;
};

}  // namespace

std::span<const Rule> AbsorbRules() { return kRules; }

int64_t AbsorbRescales(Graph& graph, Context& context) { return Absorber(graph, context).Run(); }

bool IsRescale(const Node& node) { return IsOwn(node, "Rescale"); }

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/float_outputs.h"

#include <algorithm>

#include "core/ir/output_channels.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Role;
using ir::ValueId;

class Chooser {
 public:
  Chooser(const Graph& graph, Context& context, QuantizePlan& plan)
      : graph_(graph),
        context_(context),
        plan_(plan),
        wanted_(graph.node_bound(), false),
        gains_(graph.node_bound(), false) {}

  void Run() {
    std::vector<NodeId> order;
    for (const NodeId id : graph_.nodes()) order.push_back(id);
    for (size_t k = order.size(); k-- > 0;) wanted_[order[k].index] = IsWanted(order[k]);
    for (const NodeId id : order) {
      if (wanted_[id.index] && Gains(id)) Choose(id);
    }
  }

  // The outputs that are rounded still.
  std::vector<std::string> Rounded() const {
    std::vector<std::string> names;
    for (const ValueId output : graph_.outputs()) {
      const NodeId producer = graph_.value(output).producer;
      if (!producer || !plan_.IsInteger(producer) || plan_.HasFloatResult(producer)) continue;
      if (IsReal(output)) names.push_back(graph_.name(output));
    }
    return names;
  }

 private:
  bool IsReal(ValueId value) const { return graph_.type(value).dtype == ir::DType::kF32; }

  // Whether the op passes a float on that an op before it computes: a sum only with a constant.
  bool PassesOn(const Node& node) const {
    if (node.op->moves_data != ir::Movement::kNone || node.op->clamps) return true;
    return node.op->sums && std::ranges::count_if(node.inputs, [&](ValueId input) {
                              return !graph_.IsConstant(input);
                            }) == 1;
  }

  // Whether an integer op that stays one reads the value.  A product reads integers even if its
  // own result is float.
  bool HasIntegerConsumer(ValueId value) const {
    return std::ranges::any_of(graph_.value(value).uses, [&](const ir::Use& use) {
      const Node& consumer = graph_.node(use.node);
      return plan_.IsInteger(use.node) && (!wanted_[use.node.index] || IsProduct(consumer)) &&
             IsRealOperand(graph_, consumer, static_cast<size_t>(use.input));
    });
  }

  // Consumers have been decided.  An op that only the target has may have no float form.
  bool IsWanted(NodeId id) const {
    if (!plan_.IsInteger(id) || graph_.node(id).op->definition == nullptr) return false;
    bool reaches = false;
    for (const ValueId result : graph_.node(id).results) {
      if (!IsReal(result)) continue;
      if (HasIntegerConsumer(result)) return false;
      reaches |= graph_.IsOutput(result) ||
                 std::ranges::any_of(graph_.value(result).uses, [&](const ir::Use& use) {
                   return wanted_[use.node.index] && PassesOn(graph_.node(use.node));
                 });
    }
    return reaches;
  }

  // Whether the value is real and not rounded to integers.  Producers have been decided.
  bool IsExact(ValueId value) const {
    if (!value || graph_.IsConstant(value) || !IsReal(value)) return false;
    const NodeId producer = graph_.value(value).producer;
    if (!producer || gains_[producer.index]) return true;
    return !plan_.IsInteger(producer) && !IsOwn(graph_.node(producer), "Dequantize");
  }

  // Movement of values that stay rounded gains nothing.
  bool Gains(NodeId id) {
    const Node& node = graph_.node(id);
    gains_[id.index] = !PassesOn(node) || std::ranges::any_of(node.inputs, [&](ValueId input) {
      return IsExact(input);
    });
    return gains_[id.index];
  }

  void Choose(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<std::string> names;
    for (const ValueId result : node.results) {
      if (IsReal(result)) names.push_back(graph_.name(result));
    }
    context_.Applied(kFloatOutput, node.name, std::move(names));
    if (IsProduct(node)) {
      plan_.float_result[id.index] = true;
      return;
    }
    plan_.integer[id.index] = false;
    plan_.reasons[id] = "it computes a graph output, which is not rounded to integers";
  }

  const Graph& graph_;
  Context& context_;
  QuantizePlan& plan_;
  std::vector<bool> wanted_;  // by node: it reaches outputs, and no integer op reads its results
  std::vector<bool> gains_;   // by node: chosen, so that it does not round its results
};

}  // namespace

bool IsProduct(const ir::Node& node) {
  const ir::ProductOperands operands = ir::ProductOperandsOf(node);
  return operands.data && operands.weight;
}

std::string WhyRoundedProducts(const Context& context) {
  const Settings& settings = context.settings();
  const target::Target& target = settings.target;
  if (target.fully_quantized) return fmt::format("target {} has no float ops", target.name);
  if (!target.numerics->qlinear) {
    return fmt::format("numerics mode {} defines products with rounded results only",
                       target.numerics->name);
  }
  if (!context.Allows(kFloatOutput.effect)) {
    return fmt::format("the effect {} exceeds the limit {}", Name(kFloatOutput.effect),
                       Name(settings.limit));
  }
  return {};
}

std::string WhyIntegerOutputs(const Context& context) {
  if (context.settings().options.integer_io) return "graph outputs are integers (--integer-io)";
  return WhyRoundedProducts(context);
}

void ChooseFloatOutputs(const Graph& graph, Context& context, QuantizePlan& plan) {
  const std::optional<OutputType>& asked = context.settings().options.output_type;
  plan.float_result.assign(graph.node_bound(), false);
  if (asked == OutputType::kInteger) return;
  if (const std::string why = WhyIntegerOutputs(context); !why.empty()) {
    if (asked) context.Warn("integer_outputs", fmt::format("--float-outputs: {}", why));
    return;
  }
  Chooser chooser(graph, context, plan);
  chooser.Run();
  const std::vector<std::string> rounded = chooser.Rounded();
  if (!asked || rounded.empty()) return;
  context.Warn("integer_outputs",
               fmt::format("--float-outputs: integer operators read what '{}' "
                           "{} made of",
                           fmt::join(rounded, "', '"), rounded.size() == 1 ? "is" : "are"));
}

}  // namespace octavo::passes

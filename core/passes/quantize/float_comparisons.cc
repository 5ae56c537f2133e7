// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/float_comparisons.h"

#include <algorithm>

#include "core/passes/analysis/order.h"
#include "core/passes/quantize/float_outputs.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Role;
using ir::ValueId;

class Keeper {
 public:
  Keeper(const Graph& graph, Context& context, const ValueRanges& ranges, QuantizePlan& plan)
      : graph_(graph),
        context_(context),
        ranges_(ranges),
        plan_(plan),
        sums_(WhyRoundedProducts(context).empty()),
        seen_(graph.node_bound(), false) {}

  void Run() {
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (DependsOnOrder(graph_, node) && node.op->moves_data != ir::Movement::kSelect) Keep(node);
    }
    for (const NodeId id : products_) KeepProduct(id);
  }

 private:
  bool IsComputedReal(const Node& node, size_t input) const {
    const ValueId value = node.inputs[input];
    return value && node.op->RoleOf(input) != Role::kParameter && !graph_.IsConstant(value) &&
           graph_.type(value).dtype == ir::DType::kF32;
  }

  // Whether the result is about as exact as the computed operands are.
  bool PassesOn(const Node& node) const {
    int64_t computed = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] && node.op->RoleOf(i) == Role::kWeight) return false;
      if (IsComputedReal(node, i)) ++computed;
    }
    return computed == 1 || node.op->moves_data != ir::Movement::kNone;
  }

  // An integer op may read the results as well, quantized.
  bool HasRanges(const Node& node) const {
    return std::ranges::all_of(node.results, [&](ValueId result) {
      return graph_.type(result).dtype != ir::DType::kF32 || ranges_.Of(result) != nullptr;
    });
  }

  void PushProducers(const Node& node, std::vector<NodeId>& stack) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!IsComputedReal(node, i)) continue;
      const NodeId producer = graph_.value(node.inputs[i]).producer;
      if (producer) stack.push_back(producer);
    }
  }

  // A product whose result no integer op reads stays one of integers that dequantizes its sums.
  void KeepProduct(NodeId id) {
    if (!sums_ || HasIntegerConsumer(graph_, plan_, graph_.node(id).result())) return;
    plan_.integer[id.index] = true;
    plan_.float_result[id.index] = true;
    plan_.reasons.erase(id);
  }

  void Keep(const Node& comparison) {
    const std::string reason =
        fmt::format("rounding its result could change what {} '{}' finds in it",
                    comparison.op->name, comparison.name);
    std::vector<std::string> names;
    std::vector<NodeId> stack;
    PushProducers(comparison, stack);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      const Node& node = graph_.node(id);
      // An op that only the target has may have no float form.
      if (seen_[id.index] || !HasRanges(node) || node.op->definition == nullptr) continue;
      seen_[id.index] = true;
      if (plan_.IsInteger(id)) {
        plan_.integer[id.index] = false;
        plan_.reasons[id] = reason;
        names.push_back(graph_.name(node.result()));
        if (IsProduct(node)) products_.push_back(id);
      }
      if (PassesOn(node)) PushProducers(node, stack);
    }
    if (!names.empty()) context_.Applied(kFloatComparison, comparison.name, std::move(names));
  }

  const Graph& graph_;
  Context& context_;
  const ValueRanges& ranges_;
  QuantizePlan& plan_;
  const bool sums_;                    // whether products may dequantize their sums
  std::vector<bool> seen_;             // by node
  std::vector<NodeId> products_ = {};  // made float
};

}  // namespace

void KeepComparisonsExact(const Graph& graph, Context& context, const ValueRanges& ranges,
                          QuantizePlan& plan) {
  if (context.settings().target.fully_quantized || !context.Allows(kFloatComparison.effect)) return;
  Keeper(graph, context, ranges, plan).Run();
}

}  // namespace octavo::passes

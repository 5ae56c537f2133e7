// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/cancellation.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Operands cancel if an operand's range is this many times the result's: fewer than 5 of 8 bits
// remain.
constexpr double kRatio = 8;
// A value with more than this many times the sum's elements is data, not a statistic of data.
constexpr int64_t kData = 8;

class Keeper {
 public:
  Keeper(const Graph& graph, Context& context, const ValueRanges& ranges, QuantizePlan& plan)
      : graph_(graph), context_(context), ranges_(ranges), plan_(plan) {}

  void Run() {
    std::vector<NodeId> sums;
    for (const NodeId id : graph_.nodes()) {
      if (plan_.IsInteger(id) && graph_.node(id).op->sums && Cancels(graph_.node(id))) {
        sums.push_back(id);
      }
    }
    for (const NodeId id : sums) {
      const Node& sum = graph_.node(id);
      const target::Target& target = context_.settings().target;
      if (target.fully_quantized) {
        context_.Warn("cancellation",
                      fmt::format("the operands of '{}' cancel, so few of its bits are "
                                  "significant; target {} has no float ops",
                                  sum.name, target.name),
                      sum.name);
        continue;
      }
      reason_ = fmt::format(
          "the operands of '{}' cancel, so few of its 8 bits would be significant", sum.name);
      limit_ = graph_.type(sum.result()).elements() * kData;
      KeepUp(id);
      KeepDown(id);
    }
  }

 private:
  double WidthOf(ValueId id) const {
    const profile::Entry* entry = ranges_.Of(id);
    return entry == nullptr ? 0 : double{entry->max} - entry->min;
  }

  bool Cancels(const Node& sum) const {
    const double result = WidthOf(sum.result());
    if (result <= 0) return false;
    for (const ValueId input : sum.inputs) {
      if (!graph_.IsConstant(input) && WidthOf(input) > kRatio * result) return true;
    }
    return false;
  }

  bool HasWeights(const Node& node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->RoleOf(i) == ir::Role::kWeight) return true;
    }
    return false;
  }

  void Keep(NodeId id) {
    plan_.integer[id.index] = false;
    plan_.reasons[id] = reason_;
  }

  // Keeps the producers of the operands in float, up to products with weights and up to data that
  // has other consumers.
  void KeepUp(NodeId from) {
    std::vector<NodeId> stack = {from};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      Keep(id);
      for (const ValueId input : graph_.node(id).inputs) {
        if (!input) continue;
        const NodeId producer = graph_.value(input).producer;
        if (!producer || !plan_.IsInteger(producer) || HasWeights(graph_.node(producer))) continue;
        const bool data = graph_.type(input).elements() > limit_;
        if (data && graph_.CountUses(input) > 1) continue;
        stack.push_back(producer);
      }
    }
  }

  // Keeps the consumers of the sum in float as long as their results are no larger than the limit.
  void KeepDown(NodeId from) {
    std::vector<NodeId> stack = {from};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      Keep(id);
      for (const ValueId result : graph_.node(id).results) {
        for (const ir::Use& use : graph_.value(result).uses) {
          const Node& consumer = graph_.node(use.node);
          if (!plan_.IsInteger(use.node) || HasWeights(consumer)) continue;
          if (graph_.type(consumer.result()).elements() <= limit_) stack.push_back(use.node);
        }
      }
    }
  }

  const Graph& graph_;
  Context& context_;
  const ValueRanges& ranges_;
  QuantizePlan& plan_;
  std::string reason_;
  int64_t limit_ = 0;
};

}  // namespace

void KeepCancellations(const Graph& graph, Context& context, const ValueRanges& ranges,
                       QuantizePlan& plan) {
  if (context.settings().profile != nullptr) Keeper(graph, context, ranges, plan).Run();
}

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Rewrites equivalent forms into one, so that later rules have to match only one form.

#include "core/passes/analysis/identity.h"
#include "core/passes/common_subexpressions.h"
#include "core/passes/float/pad_into_pool.h"
#include "core/passes/float/plain_bias.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kSubToAdd = {
    .id = "canonicalize/sub-to-add",
    .pattern = "Sub(x, c)",
    .replacement = "Add(x, -c)",
    .effect = Effect::kExact,
    .condition = "c is a float constant",
};
constexpr Rule kConstantToRhs = {
    .id = "canonicalize/constant-to-rhs",
    .pattern = "Op(c, x)",
    .replacement = "Op(x, c)",
    .effect = Effect::kExact,
    .condition = "Op is commutative; c is constant and x is not",
};
constexpr Rule kSumToAdd = {
    .id = "canonicalize/sum-to-add",
    .pattern = "Sum(a, b)",
    .replacement = "Add(a, b)",
    .effect = Effect::kExact,
};
constexpr Rule kRemoveIdentity = {
    .id = "canonicalize/remove-identity",
    .pattern = "Op(x) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition =
        "Op returns every element of x unchanged, and the types are equal; real-exact for an "
        "AveragePool of floats, which turns -0 into 0",
};
constexpr Rule kMergeTransposes = {
    .id = "canonicalize/merge-transposes",
    .pattern = "Transpose(Transpose(x))",
    .replacement = "Transpose(x)",
    .effect = Effect::kExact,
    .condition = "nothing separates the two",
};
constexpr Rule kMergeReshapes = {
    .id = "canonicalize/merge-reshapes",
    .pattern = "Reshape(Reshape(x))",
    .replacement = "Reshape(x)",
    .effect = Effect::kExact,
    .condition = "each is Reshape, Flatten, Squeeze or Unsqueeze; no per-channel type",
};
constexpr Rule kMinMaxToClip = {
    .id = "canonicalize/min-max-to-clip",
    .pattern = "Min(Max(x, lo), hi)",
    .replacement = "Clip(x, lo, hi)",
    .effect = Effect::kExact,
    .condition =
        "lo <= hi are scalar constants; Max(Min(x, hi), lo) as well; the inner result has one "
        "consumer",
};
constexpr Rule kCse = CseRule("canonicalize/cse");
constexpr Rule kRules[] = {kSubToAdd,        kConstantToRhs, kSumToAdd,     kRemoveIdentity,
                           kMergeTransposes, kMergeReshapes, kMinMaxToClip, kFoldPadIntoMaxPool,
                           kPlainBias,       kSplitBias,     kCse};

bool SubOfConstant(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "Sub") || graph.IsConstant(node.input(0))) return false;
  const ir::Tensor* tensor = ConstantOf(graph, node.input(1));
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32) return false;
  if (graph.type(node.input(0)).quantized()) return false;
  ir::Tensor negated = tensor->Clone();
  for (float& x : negated.mutable_values<float>()) x = -x;
  const ValueId x = node.input(0);
  const ValueId c = AddConstant(graph, graph.name(node.input(1)) + ".negated", std::move(negated));
  context.Applied(kSubToAdd, node.name, {graph.name(c)});
  Recompute(graph, id, "Add", {x, c}, {});
  return true;
}

// Also one that is quantized when constants are merged.
bool IsConstantOperand(const Graph& graph, ValueId id) {
  const Node* producer = graph.Producer(id);
  return graph.IsConstant(id) ||
         (IsOwn(producer, "Quantize") && graph.IsConstant(producer->input(0)));
}

bool ConstantSecond(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!node.op->commutative || node.inputs.size() != 2 || !node.input(0) || !node.input(1)) {
    return false;
  }
  if (!IsConstantOperand(graph, node.input(0)) || IsConstantOperand(graph, node.input(1))) {
    return false;
  }
  context.Applied(kConstantToRhs, node.name);
  graph.Redefine(id, node.op, {node.input(1), node.input(0)}, node.attributes);
  return true;
}

bool SumOfTwo(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "Sum") || node.inputs.size() != 2) return false;
  context.Applied(kSumToAdd, node.name);
  Recompute(graph, id, "Add", node.inputs, {});
  return true;
}

bool Noop(Graph& graph, NodeId id, Context& context, bool& resort) {
  const Node& node = graph.node(id);
  const ValueId same = IdentityOperand(graph, node, *context.settings().target.numerics);
  const Effect effect = EffectOfIdentity(graph, node);
  if (!same || !context.Allows(effect)) return false;
  const std::string name = node.name;
  std::vector<std::string> values = {graph.name(node.result()), graph.name(same)};
  if (!Replace(graph, node.result(), same, resort)) return false;
  context.Applied(kRemoveIdentity, effect, name, std::move(values));
  return true;
}

std::vector<int64_t> PermutationOf(const Graph& graph, const Node& node) {
  std::vector<int64_t> reversed;
  for (size_t i = graph.type(node.input(0)).shape.size(); i-- > 0;) {
    reversed.push_back(static_cast<int64_t>(i));
  }
  return node.attributes.Ints("perm", reversed);
}

bool Transposes(Graph& graph, NodeId id, Context& context) {
  const Node& outer = graph.node(id);
  if (!Is(outer, "Transpose")) return false;
  const Node* inner = ProducerIs(graph, outer.input(0), "Transpose");
  if (inner == nullptr) return false;
  const std::vector<int64_t> first = PermutationOf(graph, *inner);
  std::vector<int64_t> composed = PermutationOf(graph, outer);
  for (int64_t& axis : composed) axis = first[axis];
  context.Applied(kMergeTransposes, outer.name, {graph.name(outer.input(0))});
  Recompute(graph, id, "Transpose", {inner->input(0)}, {{"perm", std::move(composed)}}, {inner});
  return true;
}

bool IsReshape(const Node* node) {
  return node != nullptr && node->op->moves_data == ir::Movement::kReshape;
}

bool Reshapes(Graph& graph, NodeId id, Context& context) {
  const Node& outer = graph.node(id);
  if (!IsReshape(&outer)) return false;
  const Node* inner = graph.Producer(outer.input(0));
  if (!IsReshape(inner)) return false;
  // Copies the type, because adding the constant below may move the graph's values in memory.
  const ir::Type type = graph.type(outer.result());
  if (type.quant && type.quant->axis) return false;
  context.Applied(kMergeReshapes, outer.name, {graph.name(outer.input(0))});
  const ValueId x = inner->input(0);
  const ValueId shape =
      AddConstant(graph, graph.name(outer.result()) + ".shape", ir::Tensor::Ints(type.shape));
  // An extent of 0 means 0 here, not "copy the input's extent".
  ir::AttrMap attributes;
  if (ir::NumElements(type.shape) == 0) attributes.Set("allowzero", int64_t{1});
  Recompute(graph, id, "Reshape", {x, shape}, std::move(attributes), {inner});
  return true;
}

bool Clip(Graph& graph, NodeId id, Context& context) {
  const Node& outer = graph.node(id);
  const bool min_outside = Is(outer, "Min");
  if ((!min_outside && !Is(outer, "Max")) || outer.inputs.size() != 2) return false;
  const Node* inner = ProducerIs(graph, outer.input(0), min_outside ? "Max" : "Min");
  if (inner == nullptr || inner->inputs.size() != 2 || graph.CountUses(outer.input(0)) != 1) {
    return false;
  }
  const auto bound = ScalarOf(graph, outer.input(1)), other = ScalarOf(graph, inner->input(1));
  const ir::Type& type = graph.type(outer.result());
  if (!bound || !other || type.quantized() || type.shape != graph.type(inner->input(0)).shape) {
    return false;
  }
  const float low = min_outside ? *other : *bound, high = min_outside ? *bound : *other;
  if (!(low <= high)) {
    context.Keep(outer.name, "its lower bound exceeds its upper bound");
    return false;
  }
  context.Applied(kMinMaxToClip, outer.name, {graph.name(outer.input(0))});
  const std::string name = graph.name(outer.result());
  const ValueId x = inner->input(0);
  const NodeId inner_id = graph.value(outer.input(0)).producer;
  const ValueId lo = AddConstant(graph, name + ".min", ir::Tensor::Scalar(low));
  const ValueId hi = AddConstant(graph, name + ".max", ir::Tensor::Scalar(high));
  Recompute(graph, id, "Clip", {x, lo, hi}, {}, {inner});
  graph.Erase(inner_id);
  return true;
}

Status Run(Graph& graph, Context& context) {
  bool resort = false;
  for (const NodeId id : graph.nodes()) {
    SubOfConstant(graph, id, context);
    ConstantSecond(graph, id, context);
    SumOfTwo(graph, id, context);
    Transposes(graph, id, context);
    Reshapes(graph, id, context);
    Clip(graph, id, context);
    PadIntoPool(graph, id, context);
    PlainBias(graph, id, context);
    SplitBias(graph, id, context);
    Noop(graph, id, context, resort);
  }
  graph.EraseDead();
  if (resort) OCTAVO_CHECK(graph.Sort());
  OCTAVO_CHECK(EliminateCommonSubexpressions(graph, context, kCse));
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kCanonicalizePass = {
    .name = "canonicalize",
    .phase = Phase::kPrepare,
    .postcondition =
        "constant operands are on the right, consecutive data movement is merged, no node is a "
        "duplicate or an identity",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Evaluates nodes that do not depend on the graph's inputs at compile time.  Quantize and
// Dequantize of a constant stay: parameters may still change until merge-constants.
#include "core/float_exec/run.h"
#include "core/passes/fold_budget.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kFold = {
    .id = "fold-constants/fold",
    .pattern = "Op(constants)",
    .replacement = "constant",
    .effect = Effect::kExact,
    .condition = "Op computes in float; constants grow by at most --fold-budget bytes per job",
};
constexpr Rule kFoldShape = {
    .id = "fold-constants/fold-shape",
    .pattern = "Shape(x)",
    .replacement = "constant",
    .effect = Effect::kExact,
    .condition = "the result depends on the type of x only",
};
constexpr Rule kRules[] = {kFold, kFoldShape};

bool MayFold(const Graph& graph, const Node& node) {
  if (node.op->domain == "octavo" || node.op->definition == nullptr) return false;
  for (const ValueId result : node.results) {
    if (graph.type(result).quantized()) return false;
  }
  for (const ValueId input : node.inputs) {
    if (!input || node.op->shape_only) continue;
    if (graph.type(input).quantized() || !graph.IsConstant(input)) return false;
  }
  return true;
}

Result<std::vector<ir::Tensor>> Compute(const Graph& graph, const Node& node, ThreadPool& pool) {
  std::vector<ir::Tensor> shapes;
  shapes.reserve(node.inputs.size());
  std::vector<const ir::Tensor*> inputs;
  for (const ValueId input : node.inputs) {
    if (!input) {
      inputs.push_back(nullptr);
    } else if (graph.IsConstant(input)) {
      inputs.push_back(&graph.value(input).constant->tensor);
    } else {
      // The op uses only the type, so the tensor needs no elements.
      const ir::Type& type = graph.type(input);
      shapes.emplace_back(type.dtype, type.shape, std::shared_ptr<void>(), nullptr);
      inputs.push_back(&shapes.back());
    }
  }
  std::vector<ir::Type> types;
  for (const ValueId result : node.results) types.push_back(graph.type(result));
  return float_exec::Evaluate(node, inputs, types, pool);
}

void Fold(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!MayFold(graph, node)) return;
  const std::optional<int64_t> growth = GrowthWithinBudget(graph, node, context);
  if (!growth) return;
  auto results = Compute(graph, node, *context.settings().pool);
  if (!results) {
    context.Keep(node.name, fmt::format("it cannot be evaluated: {}", results.error().message));
    return;
  }
  std::vector<std::string> names;
  for (const ValueId result : node.results) names.push_back(graph.name(result));
  context.Applied(node.op->shape_only ? kFoldShape : kFold, node.name, std::move(names));
  DefineAsFolded(graph, id, *std::move(results), *growth, context);
}

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) Fold(graph, id, context);
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kFoldConstantsPass = {
    .name = "fold-constants",
    .phase = Phase::kPrepare,
    .postcondition =
        "every value that does not depend on graph inputs is a constant, within the fold budget",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes

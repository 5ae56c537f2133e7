// SPDX-License-Identifier: Apache-2.0
// Evaluates nodes that do not depend on the graph's inputs at compile time.  Quantize and
// Dequantize of a constant stay: parameters may still change until merge-constants.
#include "core/float_exec/run.h"
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
    if (!input) continue;
    if (graph.type(input).quantized()) return false;
    if (!node.op->shape_only && !graph.IsConstant(input)) return false;
  }
  return true;
}

// The bytes by which constants grow: the results minus the operands without other consumers.
int64_t GrowthOf(const Graph& graph, const Node& node) {
  int64_t growth = 0;
  for (const ValueId result : node.results) growth += graph.type(result).bytes();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (input && graph.IsConstant(input) && graph.CountUses(input) == 1) {
      growth -= graph.type(input).bytes();
    }
  }
  return std::max<int64_t>(growth, 0);
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
  const int64_t growth = GrowthOf(graph, node);
  int64_t& folded = context.findings().folded_bytes;
  if (growth > context.settings().options.fold_budget - folded) {
    context.Keep(node.name, fmt::format("folding it would add {} bytes of constants, and {} of the "
                                        "{} bytes of the fold budget are used",
                                        growth, folded, context.settings().options.fold_budget));
    return;
  }
  auto results = Compute(graph, node, *context.settings().pool);
  if (!results) {
    context.Keep(node.name, fmt::format("it cannot be evaluated: {}", results.error().message));
    return;
  }
  folded += growth;
  std::vector<std::string> names;
  for (const ValueId result : node.results) names.push_back(graph.name(result));
  context.Applied(node.op->shape_only ? kFoldShape : kFold, node.name, std::move(names));
  std::vector<ir::PayloadPtr> payloads;
  for (ir::Tensor& result : *results) payloads.push_back(ir::MakePayload(std::move(result)));
  const std::vector<ValueId> inputs = node.inputs;
  graph.DefineAsConstants(id, payloads);
  for (const ValueId input : inputs) {
    if (input && !graph.value(input).erased && graph.IsConstant(input) &&
        graph.CountUses(input) == 0) {
      graph.EraseConstant(input);
    }
  }
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

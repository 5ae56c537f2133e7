// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/float_weights.h"

#include <algorithm>
#include <cmath>

#include "core/passes/quantize/weight_type.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Shorter rows are coordinates or small lookups rather than embeddings; a scale for each row would
// save less than three quarters of their bytes.
constexpr int64_t kLeastRow = 16;

bool IsNamed(const Graph& graph, const Settings& settings, NodeId id) {
  const Node& node = graph.node(id);
  if (!IsNamedBy(settings.options.weights_only, graph, node)) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (IsConstantWeight(graph, node, i)) return true;
  }
  return false;
}

// Whether the node looks up rows of a table, which no other node reads, at computed indices.
bool IsEmbedding(const Graph& graph, const Node& node) {
  if (!Is(node, "Gather") || !IsConstantWeight(graph, node, 0)) return false;
  const ValueId table = node.inputs[0];
  if (graph.CountUses(table) != 1 || graph.IsConstant(node.inputs[1])) return false;
  const ir::Shape& shape = graph.type(table).shape;
  const int64_t rows = shape[static_cast<size_t>(*ScaleAxis(graph, node, 0))];
  if (rows == 0 || graph.type(table).elements() / rows < kLeastRow) return false;
  const ir::Range range = RangeOf(graph.value(table).constant->tensor);
  return std::isfinite(range.min) && std::isfinite(range.max);
}

bool OnlyFloatOpsRead(const Graph& graph, const QuantizePlan& plan, ValueId value) {
  const std::vector<ir::Use>& uses = graph.value(value).uses;
  return !graph.IsOutput(value) && !uses.empty() &&
         std::ranges::none_of(uses, [&](const ir::Use& use) { return plan.IsInteger(use.node); });
}

}  // namespace

void ChooseFloatWeights(const Graph& graph, const FloatChoice& choice, const Settings& settings,
                        QuantizePlan& plan) {
  if (settings.target.fully_quantized) return;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (plan.IsInteger(id) || choice.IsRequested(graph, node)) continue;
    if (IsNamed(graph, settings, id)) {
      plan.weights_only[id.index] = true;
    } else if (settings.target.PerChannel("Gather") && IsEmbedding(graph, node) &&
               OnlyFloatOpsRead(graph, plan, node.result())) {
      plan.weights_only[id.index] = true;
      plan.reasons[id] = "only its table is quantized, because float operators read its rows";
    }
  }
}

}  // namespace octavo::passes

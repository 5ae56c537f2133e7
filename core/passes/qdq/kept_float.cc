// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/kept_float.h"

#include <algorithm>

#include "core/ir/qdq_notes.h"
#include "core/passes/qdq/qdq_analysis.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

bool IsReal(const ir::Graph& graph, ValueId value) {
  return value && graph.type(value).dtype == ir::DType::kF32;
}

class Lister {
 public:
  explicit Lister(const ir::Graph& graph) : graph_(graph), qdq_(graph, origin_) {}

  bool MayFold(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    if (node.op->domain == "octavo") return false;
    const bool dequantizes = std::ranges::any_of(
        node.inputs, [&](ValueId input) { return input && qdq_.Quantized(input); });
    // An integer op that fold-qdq does not make again has this form, too.
    return dequantizes && (qdq_.Folds(id) || !IsBetweenIntegers(id));
  }

 private:
  bool IsBetweenIntegers(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->RoleOf(i) == ir::Role::kParameter || !IsReal(graph_, node.inputs[i])) continue;
      if (!qdq_.Quantized(node.inputs[i])) return false;
    }
    return std::ranges::all_of(node.results, [&](ValueId result) {
      return !IsReal(graph_, result) || qdq_.QuantizedTo(result) != nullptr;
    });
  }

  const ir::Graph& graph_;
  const QdqOrigin origin_{.own = true};
  const QdqAnalysis qdq_;
};

}  // namespace

std::vector<std::string> KeptFloat(const ir::Graph& graph) {
  std::vector<std::string> names;
  if (graph.metadata.contains(ir::kQdqFloatsKey)) return names;
  const Lister lister(graph);
  for (const NodeId id : graph.nodes()) {
    if (lister.MayFold(id)) names.push_back(graph.node(id).name);
  }
  return names;
}

}  // namespace octavo::passes

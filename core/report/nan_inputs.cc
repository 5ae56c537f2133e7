// SPDX-License-Identifier: Apache-2.0
#include "core/report/nan_inputs.h"

#include <algorithm>
#include <cmath>

#include "core/ops/op_table.h"

namespace octavo::report {
namespace {

bool IsQuantizeOfFloats(const ir::Graph& graph, const ir::Node& node) {
  return node.op == ops::FindOp("Quantize", "octavo") &&
         graph.type(node.inputs[0]).dtype == ir::DType::kF32;
}

}  // namespace

NanCounter::NanCounter(const ir::Graph& graph) : graph_(graph) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!IsQuantizeOfFloats(graph, node)) continue;
    counts_.emplace(node.inputs[0], 0);
    const ir::Node* producer = graph.Producer(node.inputs[0]);
    reads_view_ |= producer && producer->op->moves_data >= ir::Movement::kView;
  }
}

void NanCounter::Count(ir::ValueId value, const ir::Tensor& tensor) {
  const auto at = counts_.find(value);
  if (at == counts_.end()) return;
  at->second +=
      std::ranges::count_if(tensor.values<float>(), [](float x) { return std::isnan(x); });
}

std::vector<NanInput> NanCounter::Found() const {
  std::vector<NanInput> inputs;
  for (const ir::NodeId id : graph_.nodes()) {
    const ir::Node& node = graph_.node(id);
    if (!IsQuantizeOfFloats(graph_, node)) continue;
    const int64_t count = counts_.at(node.inputs[0]);
    if (count > 0) inputs.push_back({node.name, graph_.name(node.inputs[0]), count});
  }
  return inputs;
}

std::string Describe(const NanInput& input) {
  return fmt::format("Quantize '{}' read {} NaN elements of '{}' as its zero point", input.node,
                     input.count, input.value);
}

}  // namespace octavo::report

// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/fold_constants.h"

#include <algorithm>

#include "core/runtime/kernel_table.h"

namespace octavo::runtime {
namespace {

using ir::Tensor;
using ir::ValueId;

// Constants have the plain layout, so kernels that require channels-last images do not apply.
const Kernel* ChoosePlainKernel(const NodeView& view) {
  for (const Kernel* kernel : MatchingKernels(view)) {
    if (kernel->layout != LayoutRule::kChannelsLast) return kernel;
  }
  return nullptr;
}

}  // namespace

Status EvaluateNode(const NodeView& view, ThreadPool& pool, FixedValues& constants) {
  const Kernel* kernel = ChoosePlainKernel(view);
  if (kernel == nullptr) return NoKernel(view);
  OCTAVO_TRY(const Prepared prepared, kernel->prepare(view, pool));
  std::vector<const Tensor*> inputs;
  for (const ValueId id : view.node.inputs) inputs.push_back(id ? &constants.at(id) : nullptr);
  std::vector<Tensor> results;
  for (const ValueId id : view.node.results) {
    results.emplace_back(view.graph.type(id).dtype, view.graph.type(id).shape);
  }
  Tensor scratch(ir::DType::kU8, {prepared.scratch_bytes});
  OCTAVO_CHECK(prepared.run(
      {.inputs = inputs, .results = results, .scratch = scratch.mutable_raw(), .pool = &pool}));
  for (size_t i = 0; i < results.size(); ++i) {
    constants.emplace(view.node.results[i], std::move(results[i]));
  }
  return {};
}

bool IsConstantNode(const ir::Node& node, const FixedValues& constants) {
  return std::ranges::all_of(node.inputs,
                             [&](ValueId id) { return !id || constants.count(id) > 0; });
}

Result<FixedValues> FoldConstants(const ir::Graph& graph, const numerics::Mode& numerics,
                                  ThreadPool& pool) {
  FixedValues constants;
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    const ir::Value& value = graph.value(id);
    if (!value.erased && value.constant) constants.emplace(id, value.constant->tensor);
  }
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!IsConstantNode(node, constants)) continue;
    OCTAVO_CHECK(
        EvaluateNode({.graph = graph, .node = node, .fixed = constants, .numerics = &numerics},
                     pool, constants));
  }
  return constants;
}

}  // namespace octavo::runtime

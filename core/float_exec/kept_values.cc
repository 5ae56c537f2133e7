// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kept_values.h"

#include <algorithm>

namespace octavo::float_exec {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

// Computing shorter sums takes about as long as copying their results.
constexpr int64_t kLeastTerms = 128;

// The number of terms per sum if the node multiplies data by constant weights; else 0.
int64_t TermsOf(const Graph& graph, const Node& node) {
  if (node.op->weight_axis == nullptr || node.results.size() != 1) return 0;
  if (graph.type(node.result()).dtype != ir::DType::kF32) return 0;
  int64_t most = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id || node.op->RoleOf(i) != ir::Role::kWeight || !graph.IsConstant(id)) continue;
    const int axis = node.op->weight_axis(graph, node, static_cast<int>(i));
    const ir::Shape& shape = graph.type(id).shape;
    if (axis < 0 || shape[axis] == 0) continue;
    most = std::max(most, ir::NumElements(shape) / shape[axis]);
  }
  const auto computed = [&](ValueId id) { return id && !graph.IsConstant(id); };
  return std::ranges::any_of(node.inputs, computed) ? most : 0;
}

}  // namespace

void KeptValues::Keep(ValueId value, const ir::Tensor& tensor) {
  const auto at = std::ranges::find(values, value);
  if (at != values.end()) samples.back()[at - values.begin()] = tensor.Clone();
}

std::span<const ir::Tensor> KeptValues::OfSample(int64_t sample) const {
  if (sample >= static_cast<int64_t>(samples.size())) return {};
  return samples[sample];
}

std::vector<ValueId> CostlyValues(const Graph& graph, int64_t samples, int64_t bytes) {
  struct Costly {
    ValueId value = {};
    int64_t terms = 0;
  };
  std::vector<Costly> found;
  for (const ir::NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const int64_t terms = TermsOf(graph, node);
    if (terms >= kLeastTerms) found.push_back({.value = node.result(), .terms = terms});
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &Costly::terms);
  std::vector<ValueId> kept;
  for (const Costly& costly : found) {
    const ir::Type& type = graph.type(costly.value);
    const int64_t size = ir::NumElements(type.shape) * ir::SizeOf(type.dtype) * samples;
    if (size > bytes) continue;
    bytes -= size;
    kept.push_back(costly.value);
  }
  return kept;
}

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ValueId{static_cast<int32_t>(i)});
    if (!value.erased && value.constant) bytes += value.constant->tensor.bytes();
  }
  return bytes;
}

}  // namespace octavo::float_exec

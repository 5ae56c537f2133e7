// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/match.h"

#include <fmt/format.h>

#include <cmath>

namespace octavo::patterns {

using ir::Graph;
using ir::Node;
using ir::ValueId;

bool Is(const Node* node, std::string_view op) {
  return node != nullptr && node->op->domain.empty() && node->op->name == op;
}

bool IsOwn(const ir::Node* node, std::string_view op) {
  return node != nullptr && node->op->domain == "octavo" && node->op->name == op;
}

const Node* ProducerIs(const Graph& graph, ValueId value, std::string_view op) {
  if (!value) return nullptr;
  const Node* node = graph.Producer(value);
  return Is(node, op) ? node : nullptr;
}

const ir::Tensor* ConstantOf(const Graph& graph, ValueId value) {
  if (!value || !graph.IsConstant(value) || graph.type(value).quantized()) return nullptr;
  return &graph.value(value).constant->tensor;
}

std::optional<std::vector<int64_t>> IntsOf(const Graph& graph, ValueId value) {
  const ir::Tensor* tensor = ConstantOf(graph, value);
  if (tensor == nullptr || ir::IsFloat(tensor->dtype())) return std::nullopt;
  return tensor->ToInts();
}

std::optional<float> ScalarOf(const Graph& graph, ValueId value) {
  const ir::Tensor* tensor = ConstantOf(graph, value);
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32 || tensor->size() != 1) {
    return std::nullopt;
  }
  return tensor->values<float>()[0];
}

bool IsScalar(const Graph& graph, ValueId value, double expected) {
  const std::optional<float> scalar = ScalarOf(graph, value);
  return scalar && std::fabs(*scalar - expected) <= 1e-6 * std::fabs(expected);
}

ValueId ReciprocalOf(const Graph& graph, ValueId value) {
  const Node* node = graph.Producer(value);
  if (Is(node, "Reciprocal")) return node->input(0);
  return Is(node, "Div") && IsScalar(graph, node->input(0), 1) ? node->input(1) : ValueId{};
}

ValueId AddConstant(Graph& graph, std::string_view base, ir::Tensor tensor) {
  return graph.AddConstant(graph.UniqueName(base), std::move(tensor));
}

ValueId ConstantFor(Graph& graph, ValueId given, ir::Tensor tensor, std::string_view suffix) {
  if (graph.type(given).shape == tensor.shape()) return given;
  return AddConstant(graph, fmt::format("{}.{}", graph.name(given), suffix), std::move(tensor));
}

}  // namespace octavo::patterns

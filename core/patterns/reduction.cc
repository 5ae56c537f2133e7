// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/reduction.h"

#include <algorithm>
#include <cmath>

#include "core/patterns/match.h"

namespace octavo::patterns {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

bool IsReduced(const std::vector<int64_t>& axes, size_t axis) {
  return std::count(axes.begin(), axes.end(), static_cast<int64_t>(axis)) > 0;
}

// Whether `shape` is x's shape with extent 1 along the axes.
bool IsKept(const ir::Shape& shape, const ir::Shape& x, const std::vector<int64_t>& axes) {
  if (shape.size() != x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (shape[i] != (IsReduced(axes, i) ? 1 : x[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<int64_t>> AxesOf(const Graph& graph, const Node& reduce) {
  const size_t rank = graph.type(reduce.input(0)).shape.size();
  std::vector<int64_t> axes;
  if (!reduce.input(1)) {
    if (reduce.attributes.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    return axes;
  }
  const auto given = IntsOf(graph, reduce.input(1));
  if (!given || given->empty()) return std::nullopt;
  for (const int64_t axis : *given) axes.push_back(FrontAxis(axis, rank));
  std::sort(axes.begin(), axes.end());
  return axes;
}

const Node* Trail::Behind(ValueId value) {
  for (int steps = 0; steps < 4; ++steps) {
    const Node* node = value ? graph_.Producer(value) : nullptr;
    if (node == nullptr) return nullptr;
    const auto bound = Is(node, "Max") ? ScalarOf(graph_, node->input(1)) : std::nullopt;
    const bool expands = Is(node, "Expand");
    if (expands) repeated_.push_back(node->input(0));
    if (!expands && !Is(node, "Reshape") && !Is(node, "Unsqueeze") && bound != -INFINITY) {
      return node;
    }
    value = node->input(0);
  }
  return nullptr;
}

bool Trail::LinesUp(const ir::Shape& x, const std::vector<int64_t>& axes) const {
  const ir::Shape& used = graph_.type(used_).shape;
  const bool expanded = !repeated_.empty() && used == x;
  return (expanded || IsKept(used, x, axes)) &&
         std::all_of(repeated_.begin(), repeated_.end(),
                     [&](ValueId operand) { return IsKept(graph_.type(operand).shape, x, axes); });
}

std::optional<std::vector<int64_t>> ReductionOf(const Graph& graph, ValueId value, ValueId x,
                                                std::string_view op) {
  Trail trail(graph, value);
  const Node* reduce = trail.Behind(value);
  if (!Is(reduce, op) || reduce->input(0) != x) return std::nullopt;
  auto axes = AxesOf(graph, *reduce);
  if (!axes || !trail.LinesUp(graph.type(x).shape, *axes)) return std::nullopt;
  return axes;
}

std::optional<ir::Tensor> AlongAxes(const Graph& graph, ValueId value, const ir::Shape& x,
                                    const std::vector<int64_t>& axes) {
  const ir::Tensor* tensor = ConstantOf(graph, value);
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32) return std::nullopt;
  ir::Shape shape = tensor->shape(), extents;
  if (shape.size() > x.size()) return std::nullopt;
  shape.insert(shape.begin(), x.size() - shape.size(), 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (shape[i] != (IsReduced(axes, i) ? x[i] : 1)) return std::nullopt;
    if (IsReduced(axes, i)) extents.push_back(x[i]);
  }
  return tensor->Reshaped(extents);
}

bool IsSquareOf(const Graph& graph, ValueId value, ValueId x) {
  const Node* node = graph.Producer(value);
  if (Is(node, "Mul")) return node->input(0) == x && node->input(1) == x;
  return Is(node, "Pow") && node->input(0) == x && IsScalar(graph, node->input(1), 2);
}

}  // namespace octavo::patterns

// SPDX-License-Identifier: Apache-2.0
#include "core/ir/map_quant.h"

#include "core/ir/canonical_quant.h"

namespace octavo::ir {

std::optional<Quant> MapQuant(const Graph& graph, const Node& node, int input, size_t result,
                              const Quant& from) {
  if (from.per_tensor()) return from;
  if (node.op->map_quant == nullptr || from.blocked()) return std::nullopt;
  std::optional<Quant> mapped = node.op->map_quant(graph, node, input, from);
  if (!mapped || !mapped->axis) return mapped;
  if (node.results.size() == 1) return Canonical(*std::move(mapped));
  int64_t begin = 0, end = 0, together = 0;
  for (size_t k = 0; k < node.results.size(); ++k) {
    if (k == result) begin = together;
    together += graph.type(node.results[k]).shape[*mapped->axis];
    if (k == result) end = together;
  }
  if (together != static_cast<int64_t>(mapped->scales.size())) {
    return Canonical(*std::move(mapped));
  }
  return Canonical(
      Quant::PerAxis(*mapped->axis, {mapped->scales.begin() + begin, mapped->scales.begin() + end},
                     {mapped->zero_points.begin() + begin, mapped->zero_points.begin() + end}));
}

}  // namespace octavo::ir

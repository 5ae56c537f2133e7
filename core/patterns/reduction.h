// SPDX-License-Identifier: Apache-2.0
// Reductions along axes in the forms that models use: with kept axes, or with axes that a Reshape
// restores or an Expand repeats.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// The axes that a Reduce* node reduces, counted from the front and sorted.
std::optional<std::vector<int64_t>> AxesOf(const ir::Graph& graph, const ir::Node& reduce);

// Looks through the nodes that only restore reduced axes: Reshape, Unsqueeze, Expand, and a Max
// with -infinity.  Remembers the operands of Expand for LinesUp.
class Trail {
 public:
  explicit Trail(const ir::Graph& graph, ir::ValueId value) : graph_(graph), used_(value) {}

  // The first other node that `value` is computed from; null if there is none.
  const ir::Node* Behind(ir::ValueId value);
  // Whether the first value broadcasts to x: 1 along the axes, x's own extents elsewhere, or
  // already x's shape by an Expand along the axes.
  bool LinesUp(const ir::Shape& x, const std::vector<int64_t>& axes) const;

 private:
  const ir::Graph& graph_;
  ir::ValueId used_;
  std::vector<ir::ValueId> repeated_ = {};  // operands of Expand
};

// The axes, if `value` is a reduction `op` of x that broadcasts to x; else nullopt.
std::optional<std::vector<int64_t>> ReductionOf(const ir::Graph& graph, ir::ValueId value,
                                                ir::ValueId x, std::string_view op);

// The elements of a constant that broadcasts to x and varies along the axes only, as the scale or
// bias of a normalization: of the axes' extents.  nullopt for any other value.
std::optional<ir::Tensor> AlongAxes(const ir::Graph& graph, ir::ValueId value, const ir::Shape& x,
                                    const std::vector<int64_t>& axes);

// Whether `value` is x * x, or x to the power of 2.
bool IsSquareOf(const ir::Graph& graph, ir::ValueId value, ir::ValueId x);

}  // namespace octavo::patterns

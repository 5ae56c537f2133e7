// SPDX-License-Identifier: Apache-2.0
// Reductions along axes as models write them: axes kept, restored by Reshape, repeated by Expand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// The axes that a Reduce* node reduces, from the front and in order.
std::optional<std::vector<int64_t>> AxesOf(const ir::Graph& graph, const ir::Node& reduce);

// Skips ops that only restore reduced axes: Reshape, Unsqueeze, Expand, and a Max with -infinity.
// Records what an Expand repeats, for LinesUp.
class Trail {
 public:
  explicit Trail(const ir::Graph& graph, ir::ValueId value) : graph_(graph), used_(value) {}

  // The node behind `value`, null where none computes it.
  const ir::Node* Behind(ir::ValueId value);
  // Whether the first value lines up with x when broadcast: 1 along the axes, x's own extents
  // elsewhere.  An Expand along the axes has made it x's shape already.
  bool LinesUp(const ir::Shape& x, const std::vector<int64_t>& axes) const;

 private:
  const ir::Graph& graph_;
  ir::ValueId used_;
  std::vector<ir::ValueId> repeated_ = {};  // operands of Expand
};

// A reduction `op` of x whose value, as it is used, lines up with x.  The axes, or none.
std::optional<std::vector<int64_t>> ReductionOf(const ir::Graph& graph, ir::ValueId value,
                                                ir::ValueId x, std::string_view op);

// x * x, or x to the power of 2.
bool IsSquareOf(const ir::Graph& graph, ir::ValueId value, ir::ValueId x);

}  // namespace octavo::patterns

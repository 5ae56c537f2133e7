// SPDX-License-Identifier: Apache-2.0
// A label for every element of a value, stored once along the axes on which it does not vary: the
// labels of a convolution's result have the shape 1xCx1x1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/type.h"

namespace octavo::passes {

struct Labels {
  ir::Shape shape = {};           // of the value's rank; each extent is 1 or the value's
  std::vector<int32_t> ids = {};  // row-major

  // The same label for all elements of a value of that rank.
  static Labels Uniform(size_t rank, int32_t id) { return {ir::Shape(rank, 1), {id}}; }
  // One label per index of the axis.
  static Labels Along(size_t rank, size_t axis, std::vector<int32_t> ids);
  // From a label per element of `shape`.
  static Labels Of(const ir::Shape& shape, std::vector<int32_t> ids);

  bool VariesAlong(size_t axis) const { return shape[axis] > 1; }
  // Whether the labels vary along no axis but this one.
  bool VariesOnlyAlong(size_t axis) const;
};

// The labels under `shape`, to which theirs must broadcast (aligned at the last axis): one per
// element.
std::vector<int32_t> Expand(const Labels& labels, const ir::Shape& shape);
// The shape to which both broadcast.
ir::Shape BroadcastShape(const ir::Shape& a, const ir::Shape& b);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// The windows of a MaxPool or AveragePool node.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::runtime {

// One spatial axis.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  // The index of tap k of window i; an index outside [0, in) is padding.
  int64_t Place(int64_t i, int64_t k) const { return i * stride - before + k * dilation; }
  // The number of taps of window i within the operand; CountPadded includes its declared padding.
  int64_t CountInside(int64_t i) const { return Count(i, 0, in); }
  int64_t CountPadded(int64_t i) const { return Count(i, -before, in + after); }

 private:
  int64_t Count(int64_t i, int64_t begin, int64_t end) const {
    int64_t count = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t place = Place(i, k);
      count += place >= begin && place < end ? 1 : 0;
    }
    return count;
  }
};

// One axis per spatial axis; for a single one, an axis of extent 1 precedes it.
std::vector<PoolAxis> PoolAxes(const ir::Node& node, const ir::Shape& x, const ir::Shape& y);

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// The loops of Histogram::Add.  Their results do not depend on how threads split the values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/profile/count_loops.h"

namespace octavo::profile {

Extent ExtentOf(std::span<const float> values, ThreadPool* pool);

// counts[floor(value / 2^exponent) - first] += 1 for every finite value.  `counts` must have a bin
// for each of them.
struct BinGrid {
  int exponent = 0;
  int64_t first = 0;
};
void CountInto(std::span<const float> values, const BinGrid& grid, ThreadPool* pool,
               std::vector<int64_t>& counts);

}  // namespace octavo::profile

// SPDX-License-Identifier: Apache-2.0
// An elementwise op of two operands with broadcasting, split into rows along which each operand has
// stride 0 or 1.  Supports both layouts.
#pragma once

#include <functional>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

struct RowPlan {
  int64_t count = 1;  // elements per row of the result
  bool a_steps = false, b_steps = false;
  std::vector<int64_t> a_offsets = {0}, b_offsets = {0};

  // Calls part(a, b, y, count) with the first indices of parts that cover the result, on several
  // threads.
  using Part = std::function<void(int64_t a, int64_t b, int64_t y, int64_t count)>;
  void For(ThreadPool& pool, const Part& part) const;
};

// Requires FitsRows(view).
RowPlan PlanRows(const NodeView& view);
// Whether each operand has the result's rank or is equal in both layouts at that rank, and the
// result is not empty.
bool FitsRows(const NodeView& view);

}  // namespace octavo::runtime

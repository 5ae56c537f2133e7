// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/broadcast_plan.h"

#include <algorithm>

#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

// The operand's stride along each axis of the result, in memory order.
ir::Shape StepsOf(Layout layout, const ir::Shape& operand, const ir::Shape& result) {
  const bool last = CanonicalLayout(layout, operand) == Layout::kChannelsLast;
  ir::Shape steps(result.size(), 0);
  const size_t lead = result.size() - operand.size();
  const ir::Shape stored = StoredShape(last ? layout : Layout::kPlain, operand);
  const ir::Shape strides = ir::StridesOf(stored);
  for (size_t i = 0; i < operand.size(); ++i) {
    const int at = StoredAxis(last ? layout : Layout::kPlain, operand, static_cast<int>(i));
    const int to = StoredAxis(layout, result, static_cast<int>(lead + i));
    steps[to] = operand[i] == 1 ? 0 : strides[at];
  }
  return steps;
}

// Merges innermost axes while both operands have uniform strides.
size_t JoinInner(const ir::Shape& extents, const ir::Shape& a, const ir::Shape& b, RowPlan& plan) {
  size_t axis = extents.size();
  int64_t a_step = -1, b_step = -1;
  while (axis > 0) {
    const int64_t extent = extents[axis - 1];
    if (extent != 1) {
      if (a_step < 0) {
        a_step = a[axis - 1];
        b_step = b[axis - 1];
      } else if (a[axis - 1] != a_step * plan.count || b[axis - 1] != b_step * plan.count) {
        break;
      }
      plan.count *= extent;
    }
    --axis;
  }
  plan.a_steps = a_step > 0;
  plan.b_steps = b_step > 0;
  return axis;
}

// Operands of lower rank are stored as they are, so with the result's rank (leading ones) they must
// be equal in both layouts: (5, 7) for a result (2, 5, 7) is not.
bool Fits(const ir::Type& operand, const ir::Type& result) {
  if (operand.shape.size() == result.shape.size()) return true;
  ir::Shape shape(result.shape.size() - operand.shape.size(), 1);
  shape.insert(shape.end(), operand.shape.begin(), operand.shape.end());
  return CanonicalLayout(Layout::kChannelsLast, shape) == Layout::kPlain;
}

}  // namespace

RowPlan PlanRows(const NodeView& view) {
  const Layout layout = view.layout;
  const ir::Shape& result = view.out().shape;
  RowPlan plan;
  const ir::Shape extents = StoredShape(layout, result);
  const ir::Shape a_steps = StepsOf(layout, view.in(0).shape, result);
  const ir::Shape b_steps = StepsOf(layout, view.in(1).shape, result);
  const size_t outer = JoinInner(extents, a_steps, b_steps, plan);
  for (size_t axis = 0; axis < outer; ++axis) {
    const auto expand = [&](std::vector<int64_t>& offsets, int64_t step) {
      std::vector<int64_t> more;
      more.reserve(offsets.size() * extents[axis]);
      for (const int64_t offset : offsets) {
        for (int64_t i = 0; i < extents[axis]; ++i) more.push_back(offset + i * step);
      }
      offsets = std::move(more);
    };
    expand(plan.a_offsets, a_steps[axis]);
    expand(plan.b_offsets, b_steps[axis]);
  }
  return plan;
}

bool FitsRows(const NodeView& view) {
  return Fits(view.in(0), view.out()) && Fits(view.in(1), view.out()) && view.out().elements() > 0;
}

void RowPlan::For(ThreadPool& pool, const Part& part) const {
  const auto rows = static_cast<int64_t>(a_offsets.size());
  if (rows == 1) {
    pool.For(count, kRowGrain, [&](int64_t begin, int64_t end) {
      part(a_offsets[0] + (a_steps ? begin : 0), b_offsets[0] + (b_steps ? begin : 0), begin,
           end - begin);
    });
    return;
  }
  pool.For(rows, std::max<int64_t>(1, kRowGrain / count), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      part(a_offsets[row], b_offsets[row], row * count, count);
    }
  });
}

}  // namespace octavo::runtime

// SPDX-License-Identifier: Apache-2.0
// Common to all Reduce*(x, axes) {keepdims, noop_with_empty_axes}; absent axes mean all axes.
#pragma once

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kReduceAttributes[] = {
    {"keepdims", ir::AttrKind::kInt},
    {"noop_with_empty_axes", ir::AttrKind::kInt},
};

Status InferReduce(ir::InferContext& context);

// The input elements that each output element combines: outer[o] + inner[i], in row-major order of
// the reduced axes.
struct Reduction {
  std::vector<int64_t> outer;  // input offset of each output element
  std::vector<int64_t> inner;  // offsets along the reduced axes
};
Result<Reduction> ReductionOf(const ir::EvalContext& context);
// The same, if `reduced` already states for every axis whether it is reduced.
Reduction ReductionOver(const ir::Shape& x, const std::vector<bool>& reduced);

// result = finish(fold(fold(start, x0), x1).., count), accumulated in `Sum` in a fixed order.
template <class Sum, class Fold, class Finish>
Status Reduce(const ir::EvalContext& context, Sum start, Fold&& fold, Finish&& finish) {
  OCTAVO_TRY(const Reduction reduction, ReductionOf(context));
  const auto count = static_cast<double>(reduction.inner.size());
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    const T* from = context.in(0).values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    const auto outputs = static_cast<int64_t>(reduction.outer.size());
    context.pool->For(outputs, 64, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        Sum sum = start;
        for (const int64_t offset : reduction.inner) {
          sum = fold(sum, static_cast<Sum>(from[reduction.outer[o] + offset]));
        }
        const auto value = finish(sum, count);
        if constexpr (std::is_same_v<std::remove_const_t<decltype(value)>, double>) {
          to[o] = FromReal<T>(value);
        } else {
          to[o] = static_cast<T>(value);
        }
      }
    });
  });
  return {};
}

// Largest or smallest: the result is the element that `better` prefers to all others, or NaN if the
// input contains one.
template <class Better>
Status ReduceExtreme(const ir::EvalContext& context, Better&& better) {
  OCTAVO_TRY(const Reduction reduction, ReductionOf(context));
  if (reduction.inner.empty() && !reduction.outer.empty()) {
    return BadData(context, "has no elements to choose from");
  }
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    const T* from = context.in(0).values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    const auto outputs = static_cast<int64_t>(reduction.outer.size());
    context.pool->For(outputs, 64, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        T best = from[reduction.outer[o] + reduction.inner[0]];
        for (const int64_t offset : reduction.inner) {
          const T x = from[reduction.outer[o] + offset];
          if (better(x, best) || x != x) best = x;
        }
        to[o] = best;
      }
    });
  });
  return {};
}

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// Common to Softmax and LpNormalization: the rows along one axis.
#pragma once

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

// Requires a float operand; attribute `axis` defaults to the last axis; the result has the
// operand's type.
inline Status InferRows(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const auto rank = static_cast<int>(context.shape(0).size());
  if (rank == 0) return {};
  OCTAVO_TRY([[maybe_unused]] const int axis,
             CheckedAxis(context, context.node().attributes.Int("axis", -1), rank));
  return {};
}

// Calls row(values, count) for every row along the axis, with its elements in double; `row` works
// in place, and each result is rounded once.
template <class Row>
Status ForEachRow(const ir::EvalContext& context, Row&& row) {
  const ir::Tensor& x = context.in(0);
  if (x.size() == 0) return {};
  const int axis = FrontAxis(context.node.attributes.Int("axis", -1), x.rank());
  const int64_t count = x.shape().empty() ? 1 : x.shape()[axis];
  const int64_t stride = x.shape().empty() ? 1 : ir::StridesOf(x.shape())[axis];
  const auto run = [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(x.size() / count, 16, [&](int64_t begin, int64_t end) {
      std::vector<double> values(count);
      for (int64_t r = begin; r < end; ++r) {
        const int64_t first = r / stride * stride * count + r % stride;
        for (int64_t i = 0; i < count; ++i) values[i] = from[first + i * stride];
        row(values.data(), count);
        for (int64_t i = 0; i < count; ++i) to[first + i * stride] = static_cast<T>(values[i]);
      }
    });
  };
  if (x.dtype() == ir::DType::kF64) {
    run(double{});
  } else {
    run(float{});
  }
  return {};
}

}  // namespace octavo::ops

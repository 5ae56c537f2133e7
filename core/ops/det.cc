// SPDX-License-Identifier: Apache-2.0
// Det(x): the determinant of each square matrix in the last two axes, by elimination with row
// pivoting in double.
#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) {
    return context.Invalid("operand of shape {} holds no square matrices", ir::ToString(shape));
  }
  shape.resize(shape.size() - 2);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

double Determinant(std::vector<double> m, int64_t n) {
  double determinant = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
    }
    const double head = m[pivot * n + column];
    if (head == 0) return 0;
    if (pivot != column) {
      for (int64_t i = 0; i < n; ++i) std::swap(m[pivot * n + i], m[column * n + i]);
      determinant = -determinant;
    }
    determinant *= head;
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = m[row * n + column] / head;
      for (int64_t i = column; i < n; ++i) m[row * n + i] -= factor * m[column * n + i];
    }
  }
  return determinant;
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t n = x.shape().back();
  VisitDType(x.dtype(), [&]<class T>(T) {
    const auto from = x.values<T>();
    const auto to = context.out().mutable_values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      const auto first = from.begin() + static_cast<ptrdiff_t>(i) * n * n;
      to[i] = static_cast<T>(Determinant(std::vector<double>(first, first + n * n), n));
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kDet{
    .name = "Det",
    .since = ir::Since(11),
    .quant = {.why = "its terms cancel, so few correct bits would be left"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// MatMulInteger(a, b, a_zero_point?, b_zero_point?): an int32 matrix product of integers, for
// models that another tool quantized.  a may have one zero point per row, b one per column.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

bool IsByte(ir::DType dtype) { return dtype == ir::DType::kU8 || dtype == ir::DType::kI8; }

// Operand shapes as matrices: a vector is a row on the left, a column on the right.
struct Product {
  ir::Shape a, b, result;  // result includes both matrix axes
};

std::optional<Product> ProductOf(ir::Shape a, ir::Shape b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  if (a.back() != b[b.size() - 2]) return std::nullopt;
  auto batch = Broadcast(ir::Shape(a.begin(), a.end() - 2), ir::Shape(b.begin(), b.end() - 2));
  if (!batch) return std::nullopt;
  batch->push_back(a[a.size() - 2]);
  batch->push_back(b.back());
  return Product{a, b, *batch};
}

Status Infer(ir::InferContext& context) {
  if (!IsByte(context.dtype(0)) || !IsByte(context.dtype(1))) {
    return context.Invalid("operands are {} and {}, but must be u8 or i8", Name(context.dtype(0)),
                           Name(context.dtype(1)));
  }
  auto product = ProductOf(context.shape(0), context.shape(1));
  if (!product) {
    return context.Invalid("matrices of shapes {} and {} do not multiply",
                           ir::ToString(context.shape(0)), ir::ToString(context.shape(1)));
  }
  const int64_t rows = product->result[product->result.size() - 2];
  if (context.Has(2) && context.type(2).elements() != 1 && context.type(2).elements() != rows) {
    return context.Unsupported("a_zero_point must be one number or one per row");
  }
  if (context.Has(3) && context.type(3).elements() != 1 &&
      context.type(3).elements() != product->result.back()) {
    return context.Unsupported("b_zero_point must be one number or one per column");
  }
  ir::Shape shape = product->result;
  if (context.shape(1).size() == 1) shape.pop_back();
  if (context.shape(0).size() == 1) {
    shape.erase(shape.end() - (context.shape(1).size() == 1 ? 1 : 2));
  }
  context.SetResult(0, ir::DType::kI32, std::move(shape));
  return {};
}

int64_t ZeroPoint(const ir::EvalContext& context, size_t input, int64_t at) {
  if (!context.Has(input)) return 0;
  return context.in(input).IntAt(context.in(input).size() == 1 ? 0 : at);
}

Status Definition(const ir::EvalContext& context) {
  const auto product = ProductOf(context.in(0).shape(), context.in(1).shape());
  ir::Shape batch = product->result;
  const int64_t columns = batch.back(), rows = batch[batch.size() - 2], depth = product->a.back();
  ir::Shape a_shape = batch, b_shape = batch;
  a_shape.back() = depth;
  b_shape[batch.size() - 2] = depth;
  const ir::Tensor a = BroadcastTo(context.in(0).Reshaped(product->a), a_shape, context.pool);
  const ir::Tensor b = BroadcastTo(context.in(1).Reshaped(product->b), b_shape, context.pool);
  const auto to = context.out().mutable_values<int32_t>();
  for (size_t flat = 0; flat < to.size(); ++flat) {
    const int64_t column = static_cast<int64_t>(flat) % columns;
    const int64_t row = static_cast<int64_t>(flat) / columns;
    const int64_t a_zero = ZeroPoint(context, 2, row % rows),
                  b_zero = ZeroPoint(context, 3, column);
    const int64_t b_first = row / rows * depth * columns + column;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += (a.IntAt(row * depth + k) - a_zero) * (b.IntAt(b_first + k * columns) - b_zero);
    }
    to[flat] = static_cast<int32_t>(sum);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMatMulInteger{
    .name = "MatMulInteger",
    .since = ir::Since(10),
    .inputs = {2, 4},
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// MatMul(a, b): the matrix product over the last two axes, with broadcast of the others; a vector
// is a row on the left and a column on the right.  Every element is one chain of fused
// multiply-adds along K, starting at +0.

#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/product_type.h"

namespace octavo::ops {
namespace {

// The batched matrix product of two shapes by numpy's rules.
struct MatMulShape {
  int64_t rows = 0, depth = 0, columns = 0;
  // Element offsets of the operands, one per matrix product.
  std::vector<int64_t> a_offsets, b_offsets;
  ir::Shape result;
};

// The returned error lacks the node's name.
Result<MatMulShape> MatMulShapeOf(ir::Shape a, ir::Shape b) {
  const auto wrong = [&](std::string_view what) {
    return Fail(Code::kInvalidArgument, "operands of shapes {} and {} {}", ir::ToString(a),
                ir::ToString(b), what);
  };
  if (a.empty() || b.empty()) return wrong("must have at least one axis");
  MatMulShape shape;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  shape.rows = a[a.size() - 2];
  shape.depth = a.back();
  shape.columns = b.back();
  if (b[b.size() - 2] != shape.depth) return wrong("have different inner extents");
  const ir::Shape batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  const auto batch = Broadcast(batch_a, batch_b);
  if (!batch) return wrong("do not broadcast");
  const ir::Shape strides_a = BroadcastStrides(batch_a, *batch);
  const ir::Shape strides_b = BroadcastStrides(batch_b, *batch);
  const int64_t count = ir::NumElements(*batch);
  if (count > INT32_MAX) return wrong("make too many products");
  for (int64_t i = 0; i < count; ++i) {
    int64_t at_a = 0, at_b = 0, rest = i;
    for (size_t d = batch->size(); d-- > 0;) {
      at_a += rest % (*batch)[d] * strides_a[d];
      at_b += rest % (*batch)[d] * strides_b[d];
      rest /= (*batch)[d];
    }
    shape.a_offsets.push_back(at_a * shape.rows * shape.depth);
    shape.b_offsets.push_back(at_b * shape.depth * shape.columns);
  }
  shape.result = *batch;
  if (!row) shape.result.push_back(shape.rows);
  if (!column) shape.result.push_back(shape.columns);
  return shape;
}

Status Infer(ir::InferContext& context) {
  if (context.dtype(0) == ir::DType::kBool) {
    return context.Unsupported("operands of type bool are not supported");
  }
  if (context.dtype(1) != context.dtype(0)) {
    return context.Invalid("operands are {} and {}, but must have one type", Name(context.dtype(0)),
                           Name(context.dtype(1)));
  }
  auto shape = MatMulShapeOf(context.shape(0), context.shape(1));
  if (!shape) return context.Invalid("{}", shape.error().message);
  context.SetResult(0, context.dtype(0), std::move(shape->result));
  return {};
}

template <class T>
Status Compute(const ir::EvalContext& context) {
  OCTAVO_TRY(const MatMulShape shape, MatMulShapeOf(context.in(0).shape(), context.in(1).shape()));
  const T* a = context.in(0).values<T>().data();
  const T* b = context.in(1).values<T>().data();
  T* y = context.out().mutable_values<T>().data();
  const auto batches = static_cast<int64_t>(shape.a_offsets.size());
  context.pool->For(batches * shape.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / shape.rows, m = i % shape.rows;
      const T* left = a + shape.a_offsets[batch] + m * shape.depth;
      const T* right = b + shape.b_offsets[batch];
      for (int64_t n = 0; n < shape.columns; ++n) {
        T sum = 0;
        for (int64_t k = 0; k < shape.depth; ++k) {
          sum = MultiplyAdd<T>(left[k], right[k * shape.columns + n], sum);
        }
        y[i * shape.columns + n] = sum;
      }
    }
  });
  return {};
}

Status Definition(const ir::EvalContext& context) {
  Status status;
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) status = Compute<T>(context);
  });
  return status;
}

// The output-channel axis is the columns of the right operand; a vector has none.
int WeightAxis(const ir::Graph& graph, const ir::Node& node, int input) {
  const auto rank = static_cast<int>(graph.type(node.inputs[input]).shape.size());
  return rank < 2 ? -1 : rank - 1;
}

}  // namespace

extern constexpr ir::OpDef kMatMul{
    .name = "MatMul",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kWeight),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .weight_axis = &WeightAxis,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

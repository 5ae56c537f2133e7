// SPDX-License-Identifier: Apache-2.0
// Gemm(a, b, c): alpha * A' * B' + beta * c; A' is A or its transpose, B' likewise, and c
// broadcasts to [M, N].  Every element of the product is one chain of fused multiply-adds along K,
// starting at +0; then follow the multiplication by alpha and the addition of the scaled c.
#include <cmath>

#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/product_type.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"alpha", ir::AttrKind::kFloat},
    {"beta", ir::AttrKind::kFloat},
    {"transA", ir::AttrKind::kInt},
    {"transB", ir::AttrKind::kInt},
};

Status Infer(ir::InferContext& context) {
  const ir::Shape& a = context.shape(0);
  const ir::Shape& b = context.shape(1);
  OCTAVO_CHECK(CheckProductTypes(context));
  if (a.size() != 2 || b.size() != 2) {
    return context.Invalid("operands of shapes {} and {} must be matrices", ir::ToString(a),
                           ir::ToString(b));
  }
  const bool trans_a = context.node().attributes.Int("transA", 0) != 0;
  const bool trans_b = context.node().attributes.Int("transB", 0) != 0;
  if (a[trans_a ? 0 : 1] != b[trans_b ? 1 : 0]) {
    return context.Invalid("inner extents {} and {} differ", a[trans_a ? 0 : 1],
                           b[trans_b ? 1 : 0]);
  }
  const ir::Shape shape = {a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  if (context.Has(2) && Broadcast(context.shape(2), shape) != shape) {
    return context.Invalid("c of shape {} does not broadcast to {}", ir::ToString(context.shape(2)),
                           ir::ToString(shape));
  }
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
Status Compute(const ir::EvalContext& context) {
  const ir::AttrMap& attributes = context.node.attributes;
  const bool trans_a = attributes.Int("transA", 0) != 0, trans_b = attributes.Int("transB", 0) != 0;
  const T alpha = attributes.Float("alpha", 1), beta = attributes.Float("beta", 1);
  ir::Tensor& result = context.out();
  const int64_t rows = result.shape()[0], columns = result.shape()[1];
  const int64_t depth = context.in(0).shape()[trans_a ? 0 : 1];
  const T* a = context.in(0).values<T>().data();
  const T* b = context.in(1).values<T>().data();
  T* y = result.mutable_values<T>().data();
  ir::Tensor c;
  if (context.Has(2)) c = BroadcastTo(context.in(2), result.shape(), context.pool);
  context.pool->For(rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      for (int64_t n = 0; n < columns; ++n) {
        T sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          sum = std::fma(trans_a ? a[k * rows + m] : a[m * depth + k],
                         trans_b ? b[n * depth + k] : b[k * columns + n], sum);
        }
        if (alpha != 1) sum *= alpha;
        if (context.Has(2)) {
          const T addend = c.values<T>()[m * columns + n];
          sum += beta == 1 ? addend : beta * addend;
        }
        y[m * columns + n] = sum;
      }
    }
  });
  return {};
}

Status Definition(const ir::EvalContext& context) {
  return WithReal(context.in(0).dtype(), [&]<class T>(T) { return Compute<T>(context); });
}

int WeightAxis(const ir::Graph&, const ir::Node& node, int) {
  return node.attributes.Int("transB", 0) != 0 ? 0 : 1;
}

}  // namespace

extern constexpr ir::OpDef kGemm{
    .name = "Gemm",
    .since = ir::Since(1),
    .inputs = {2, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kWeight, ir::Role::kBias),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .weight_axis = &WeightAxis,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// LpPool(x) {p}: the p-norm of each window; the padding counts as 0.
#include <cmath>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"kernel_shape", ir::AttrKind::kInts},
    {"strides", ir::AttrKind::kInts},
    {"dilations", ir::AttrKind::kInts},
    {"pads", ir::AttrKind::kInts},
    {"auto_pad", ir::AttrKind::kString},
    {"ceil_mode", ir::AttrKind::kInt},
    {"p", ir::AttrKind::kInt},
};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  OCTAVO_TRY(const Window window, WindowOf(context.node(), context.shape(0)));
  if (context.node().attributes.Int("p", 2) < 1) return context.Invalid("p must be at least 1");
  ir::Shape shape = {context.shape(0)[0], context.shape(0)[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

Status Definition(const ir::EvalContext& context) {
  OCTAVO_TRY(const Window window, WindowOf(context.node, context.in(0).shape()));
  const auto p = static_cast<double>(context.node.attributes.Int("p", 2));
  const int64_t in_size = ir::NumElements(window.in), out_size = window.positions();
  const int64_t planes = context.in(0).shape()[0] * context.in(0).shape()[1];
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    const T* x = context.in(0).values<T>().data();
    T* y = context.out().mutable_values<T>().data();
    context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        std::vector<double> sums(out_size, 0);
        ForEachTap(window, 0, out_size, [&](int64_t position, int64_t, int64_t offset) {
          if (offset < 0) return;
          sums[position] +=
              math::Pow(std::abs(static_cast<double>(x[plane * in_size + offset])), p);
        });
        for (int64_t i = 0; i < out_size; ++i) {
          y[plane * out_size + i] = static_cast<T>(math::Pow(sums[i], 1 / p));
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kLpPool{
    .name = "LpPool",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

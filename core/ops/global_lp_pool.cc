// GlobalLpPool(x) {p}: the p-norm of each plane.
#include <cmath>

#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"p", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 3 || context.node().attributes.Int("p", 2) < 1) {
    return context.Invalid("operand of shape {} must have at least 3 axes, and p be at least 1",
                           ir::ToString(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const auto p = static_cast<double>(context.node.attributes.Int("p", 2));
  const int64_t planes = context.out().size();
  const int64_t size = planes == 0 ? 0 : x.size() / planes;
  VisitDType(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    for (int64_t plane = 0; plane < planes; ++plane) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) {
        sum += math::Pow(std::abs(static_cast<double>(from[plane * size + i])), p);
      }
      to[plane] = static_cast<T>(math::Pow(sum, 1 / p));
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGlobalLpPool{
    .name = "GlobalLpPool",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops

// GlobalAveragePool(x): the mean, summed in double in row-major order, over all spatial axes, which
// stay with extent 1.
#include "core/ops/elementwise.h"
#include "core/ops/real_type.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 2) {
    return context.Invalid("operand of shape {} must have at least 2 axes", ir::ToString(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
void Pool(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const int64_t size = planes == 0 ? 0 : x.size() / planes;
  const T* from = x.values<T>().data();
  T* to = context.out().mutable_values<T>().data();
  context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* values = from + plane * size;
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += values[i];
      to[plane] = static_cast<T>(sum / static_cast<double>(size));
    }
  });
}

Status Reference(const ir::EvalContext& context) {
  WithReal(context.in(0).dtype(), [&]<class T>(T) { Pool<T>(context); });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGlobalAveragePool{
    .name = "GlobalAveragePool",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops

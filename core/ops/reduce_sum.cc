// ReduceSum(x, axes): the sum, in double in row-major order (integers: exactly).
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  if (ir::IsInteger(context.in(0).dtype())) {
    return Reduce(
        context, int64_t{0}, [](int64_t a, int64_t b) { return a + b; },
        [](int64_t sum, double) { return sum; });
  }
  return Reduce(
      context, 0.0, [](double a, double b) { return a + b; },
      [](double sum, double) { return sum; });
}

}  // namespace

extern constexpr ir::OpDef kReduceSum{
    .name = "ReduceSum",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

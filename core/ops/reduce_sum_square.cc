// ReduceSumSquare(x, axes): the sum of squares, in double in row-major order.
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Reduce(
      context, 0.0, [](double a, double b) { return a + b * b; },
      [](double sum, double) { return sum; });
}

}  // namespace

extern constexpr ir::OpDef kReduceSumSquare{
    .name = "ReduceSumSquare",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

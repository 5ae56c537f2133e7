// ReduceL2(x, axes): the root of the sum of squares, in double in row-major order.
#include <cmath>
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Reduce(
      context, 0.0, [](double a, double b) { return a + b * b; },
      [](double sum, double) { return std::sqrt(sum); });
}

}  // namespace

extern constexpr ir::OpDef kReduceL2{
    .name = "ReduceL2",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

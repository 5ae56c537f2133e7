// ReduceLogSum(x, axes): the logarithm of the sum.
#include "core/base/math.h"
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Reduce(
      context, 0.0, [](double a, double b) { return a + b; },
      [](double sum, double) { return math::Log(sum); });
}

}  // namespace

extern constexpr ir::OpDef kReduceLogSum{
    .name = "ReduceLogSum",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

// ReduceSum(x, axes): the sum, in double in row-major order (integers: modulo 2^64).
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  if (ir::IsInteger(context.in(0).dtype())) {
    return Reduce(
        context, uint64_t{0}, [](uint64_t a, uint64_t b) { return a + b; },
        [](uint64_t sum, double) { return sum; });
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

// ReduceProd(x, axes): the product, in double in row-major order (integers: modulo 2^64).
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  if (ir::IsInteger(context.in(0).dtype())) {
    return Reduce(
        context, uint64_t{1}, [](uint64_t a, uint64_t b) { return a * b; },
        [](uint64_t product, double) { return product; });
  }
  return Reduce(
      context, 1.0, [](double a, double b) { return a * b; },
      [](double product, double) { return product; });
}

}  // namespace

extern constexpr ir::OpDef kReduceProd{
    .name = "ReduceProd",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

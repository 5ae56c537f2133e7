// ReduceMean(x, axes): the mean, summed in double in row-major order.
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Reduce(
      context, 0.0, [](double a, double b) { return a + b; },
      [](double sum, double count) { return sum / count; });
}

}  // namespace

extern constexpr ir::OpDef kReduceMean{
    .name = "ReduceMean",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

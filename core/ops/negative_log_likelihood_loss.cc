// NegativeLogLikelihoodLoss(log_probabilities, labels, weights?) {ignore_index, reduction}.
#include "core/ops/class_loss.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const ir::Shape strides = ir::StridesOf(input.shape());
  return ClassLoss(context, [&](int64_t n, int64_t c, int64_t place) {
    return input.FloatAt(n * strides[0] + c * strides[1] + place);
  });
}

}  // namespace

extern constexpr ir::OpDef kNegativeLogLikelihoodLoss{
    .name = "NegativeLogLikelihoodLoss",
    .inputs = {2, 3},
    .attributes = kLossAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a loss is a measure and stays float"},
    .infer = &InferLoss,
    .reference = &Reference,
};

}  // namespace octavo::ops

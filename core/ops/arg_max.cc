// ArgMax(data) {axis, keepdims, select_last_index}: the index of the greatest element along an
// axis. A Rescale before it may make ties, so it stays.
#include "core/ops/arg_extreme.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return ArgReference(context, [](auto a, auto b) { return a > b; });
}

}  // namespace

extern constexpr ir::OpDef kArgMax{
    .name = "ArgMax",
    .attributes = kArgAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &InferArg,
    .reference = &Reference,
};

}  // namespace octavo::ops

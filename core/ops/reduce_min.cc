// ReduceMin(x, axes): the smallest element.
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return ReduceExtreme(context, [](auto x, auto best) { return x < best; });
}

}  // namespace

extern constexpr ir::OpDef kReduceMin{
    .name = "ReduceMin",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput, .why = {}},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops

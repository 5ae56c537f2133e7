// Size(data): the number of its elements.
#include "core/ops/data_op.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  context.SetResult(0, ir::DType::kI64, {});
  return {};
}

Status Reference(const ir::EvalContext& context) {
  context.out().mutable_values<int64_t>()[0] = context.in(0).size();
  return {};
}

}  // namespace

extern constexpr ir::OpDef kSize{
    .name = "Size",
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kAbsorbed},
    .infer = &Infer,
    .reference = &Reference,
    .shape_only = true,
};

}  // namespace octavo::ops

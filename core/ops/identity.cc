// Identity(input): the input.
#include "core/ops/data_op.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  CopyAll(context.in(0), context.out());
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph&, const ir::Node&, int, const ir::Quant& from) {
  return from;
}

}  // namespace

extern constexpr ir::OpDef kIdentity{
    .name = "Identity",
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &MapQuant,
    .infer = &InferSameType,
    .reference = &Reference,
};

}  // namespace octavo::ops

// Flatten(input) {axis}: two axes, the product of the extents before `axis` and of the rest.
#include "core/ops/reshape_family.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& shape = context.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = context.node().attributes.Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return context.Invalid("axis {} is outside of rank {}", axis, rank).Field("axis");
  }
  if (axis < 0) axis += rank;
  const ir::Shape outer(shape.begin(), shape.begin() + axis),
      inner(shape.begin() + axis, shape.end());
  context.SetResult(0, context.dtype(0), {ir::NumElements(outer), ir::NumElements(inner)});
  return {};
}

}  // namespace

extern constexpr ir::OpDef kFlatten{
    .name = "Flatten",
    .inputs = {1, 1},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &ReshapeMapQuant,
    .infer = &Infer,
    .reference = &ReshapeReference,
};

}  // namespace octavo::ops

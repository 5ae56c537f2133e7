// Squeeze(data, axes?): drops axes of extent 1; without `axes` all of them.
#include "core/ops/reshape_family.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const int rank = static_cast<int>(data.size());
  std::vector<bool> drop(rank, false);
  if (context.Has(1)) {
    OCTAVO_TRY(const std::vector<int64_t> axes, context.KnownInts(1, "axes"));
    for (const int64_t given : axes) {
      OCTAVO_TRY(const int axis, CheckedAxis(context, given, rank));
      if (data[axis] != 1) {
        return context.Invalid("axis {} has extent {}, but must have 1", given, data[axis]);
      }
      drop[axis] = true;
    }
  } else {
    for (int i = 0; i < rank; ++i) drop[i] = data[i] == 1;
  }
  ir::Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (!drop[i]) shape.push_back(data[i]);
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

}  // namespace

extern constexpr ir::OpDef kSqueeze{
    .name = "Squeeze",
    .inputs = {1, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &ReshapeMapQuant,
    .infer = &Infer,
    .reference = &ReshapeReference,
};

}  // namespace octavo::ops

// Unsqueeze(data, axes): puts axes of extent 1 where the result has them.
#include "core/ops/reshape_family.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  OCTAVO_TRY(const std::vector<int64_t> axes, context.KnownInts(1, "axes"));
  const int rank = static_cast<int>(data.size() + axes.size());
  std::vector<bool> put(rank, false);
  for (const int64_t given : axes) {
    OCTAVO_TRY(const int axis, CheckedAxis(context, given, rank));
    if (put[axis]) return context.Invalid("axis {} is given twice", given);
    put[axis] = true;
  }
  ir::Shape shape;
  size_t next = 0;
  for (int i = 0; i < rank; ++i) shape.push_back(put[i] ? 1 : data[next++]);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

}  // namespace

extern constexpr ir::OpDef kUnsqueeze{
    .name = "Unsqueeze",
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &ReshapeMapQuant,
    .infer = &Infer,
    .reference = &ReshapeReference,
};

}  // namespace octavo::ops

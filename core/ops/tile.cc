// SPDX-License-Identifier: Apache-2.0
// Tile(input, repeats): the input repeats[i] times along each axis i.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> repeats, context.KnownInts(1, "repeats"));
  ir::Shape shape = context.shape(0);
  if (repeats.size() != shape.size()) {
    return context.Invalid("{} repeats for {} axes", repeats.size(), shape.size());
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(shape[i], repeats[i], &shape[i])) {
      return context.Invalid("repeats[{}] is {}", i, repeats[i]);
    }
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const ir::Shape dense = ir::StridesOf(input.shape());
  ir::Shape extents, strides;
  for (int i = 0; i < input.rank(); ++i) {
    extents.push_back(input.shape()[i] == 0 ? 0 : context.out().shape()[i] / input.shape()[i]);
    strides.push_back(0);
    extents.push_back(input.shape()[i]);
    strides.push_back(dense[i]);
  }
  Gather(extents, strides, ir::SizeOf(input.dtype()), input.raw(), context.out().mutable_raw(),
         context.pool);
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const int64_t channels = graph.type(node.input(0)).shape[*from.axis];
  std::vector<int64_t> repeated(graph.type(node.result()).shape[*from.axis]);
  for (size_t c = 0; c < repeated.size(); ++c) repeated[c] = static_cast<int64_t>(c) % channels;
  return PickChannels(from, repeated, *from.axis);
}

}  // namespace

extern constexpr ir::OpDef kTile{
    .name = "Tile",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
    .identity_of = &FirstInput,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// Expand(input, shape): repeats axes of extent 1, by ONNX's broadcast of the two shapes.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const ir::Shape wanted, context.KnownInts(1, "shape"));
  const auto shape = Broadcast(context.shape(0), wanted);
  if (!shape) {
    return context.Invalid("shape {} does not broadcast to {}", ir::ToString(context.shape(0)),
                           ir::ToString(wanted));
  }
  context.SetResult(0, context.dtype(0), *shape);
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const ir::Shape& shape = context.out().shape();
  Gather(shape, BroadcastStrides(input.shape(), shape), ir::SizeOf(input.dtype()), input.raw(),
         context.out().mutable_raw(), context.pool);
  return {};
}

// New axes come first; an axis of extent 1 has one pair of parameters, which applies to all copies.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Shape& input = graph.type(node.input(0)).shape;
  if (input[*from.axis] == 1) return ir::Quant::PerTensor(from.scale(), from.zero_point());
  const size_t lead = graph.type(node.result()).shape.size() - input.size();
  return OnAxis(from, *from.axis + static_cast<int>(lead));
}

}  // namespace

extern constexpr ir::OpDef kExpand{
    .name = "Expand",
    .since = ir::Since(8),
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

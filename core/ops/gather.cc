// SPDX-License-Identifier: Apache-2.0
// Gather(data, indices) {axis}: slices of data along an axis, selected by index.
#include <cstring>

#include "core/ops/shared/axis_rule.h"
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(data.size())));
  if (!ir::IsInteger(context.dtype(1))) {
    return context.Invalid("indices are {}, but must be integers", Name(context.dtype(1)));
  }
  ir::Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), context.shape(1).begin(), context.shape(1).end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), data.rank());
  const int64_t extent = data.shape()[axis];
  std::vector<int64_t> indices = context.in(1).ToInts();
  for (int64_t& index : indices) {
    if (index < -extent || index >= extent) {
      return BadData(context, "index {} is outside of extent {}", index, extent);
    }
    if (index < 0) index += extent;
  }
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= data.shape()[i];
  int64_t block = ir::SizeOf(data.dtype());
  for (int i = axis + 1; i < data.rank(); ++i) block *= data.shape()[i];
  if (block == 0) return {};
  std::byte* to = context.out().mutable_raw();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, data.raw() + (o * extent + index) * block, block);
      to += block;
    }
  }
  return {};
}

// A channel axis before the gathered axis stays; one after it shifts by the rank of the indices. On
// the gathered axis, the parameters are gathered too if the indices are constant and have rank 0 or
// 1 (or are a reshape of such indices) or have equal rows.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Shape& data = graph.type(node.input(0)).shape;
  const ir::Shape& indices = graph.type(node.input(1)).shape;
  const int axis = FrontAxis(node.attributes.Int("axis", 0), static_cast<int>(data.size()));
  if (*from.axis < axis) return from;
  if (*from.axis > axis) {
    return OnAxis(from, *from.axis - 1 + static_cast<int>(indices.size()));
  }
  auto picked = ConstantInts(graph, node.input(1));
  if (!picked || picked->empty()) return IfUniform(from);
  for (int64_t& index : *picked) {
    if (index < -data[axis] || index >= data[axis]) return std::nullopt;
    if (index < 0) index += data[axis];
  }
  if (indices.empty())
    return ir::Quant::PerTensor(from.scale((*picked)[0]), from.zero_point((*picked)[0]));
  const ir::Quant flat = PickChannels(from, *picked, axis);
  if (indices.size() == 1) return flat;
  ir::Shape before = data;
  before[axis] = static_cast<int64_t>(picked->size());
  return ReshapeQuant(flat, before, graph.type(node.result()).shape);
}

}  // namespace

extern constexpr ir::OpDef kGather{
    .name = "Gather",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kView,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// GatherElements(data, indices) {axis}: result[i][j] = data[indices[i][j]][j] for axis 0.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(data.size())));
  if (!ir::IsInteger(context.dtype(1))) {
    return context.Invalid("indices are {}, but must be integers", Name(context.dtype(1)));
  }
  if (indices.size() != data.size()) {
    return context.Invalid("indices have rank {}, but data has rank {}", indices.size(),
                           data.size());
  }
  for (size_t i = 0; i < data.size(); ++i) {
    if (static_cast<int>(i) != axis && indices[i] > data[i]) {
      return context.Invalid("indices of shape {} reach outside of data of shape {}",
                             ir::ToString(indices), ir::ToString(data));
    }
  }
  context.SetResult(0, context.dtype(0), indices);
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const ir::Tensor& indices = context.in(1);
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), data.rank());
  const ir::Shape strides = ir::StridesOf(data.shape());
  const int64_t extent = data.shape()[axis];
  const int element = ir::SizeOf(data.dtype());
  std::byte* to = context.out().mutable_raw();
  for (int64_t flat = 0; flat < indices.size(); ++flat) {
    int64_t index = indices.IntAt(flat);
    if (index < -extent || index >= extent) {
      return BadData(context, "index {} is outside of extent {}", index, extent);
    }
    if (index < 0) index += extent;
    int64_t offset = 0;
    int64_t rest = flat;
    for (int i = data.rank(); i-- > 0;) {
      const int64_t at = rest % indices.shape()[i];
      rest /= indices.shape()[i];
      offset += (i == axis ? index : at) * strides[i];
    }
    std::memcpy(to + flat * element, data.raw() + offset * element, element);
  }
  return {};
}

// Along another axis, the result has the leading channels of the data; along the gathered axis,
// each element's channel depends on the indices at run time.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Shape& indices = graph.type(node.input(1)).shape;
  const int axis = FrontAxis(node.attributes.Int("axis", 0), static_cast<int>(indices.size()));
  if (*from.axis == axis) return std::nullopt;
  std::vector<int64_t> channels;
  for (int64_t c = 0; c < indices[*from.axis]; ++c) channels.push_back(c);
  return PickChannels(from, channels, *from.axis);
}

}  // namespace

extern constexpr ir::OpDef kGatherElements{
    .name = "GatherElements",
    .since = ir::Since(11),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops

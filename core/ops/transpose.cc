// SPDX-License-Identifier: Apache-2.0
// Transpose(data) {perm}: axis i of the result is axis perm[i] of data; by default reversed.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"perm", ir::AttrKind::kInts}};

std::vector<int64_t> PermOf(const ir::Node& node, size_t rank) {
  std::vector<int64_t> perm = node.attributes.Ints("perm");
  if (node.attributes.Has("perm")) return perm;
  for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const std::vector<int64_t> perm = PermOf(context.node(), data.size());
  std::vector<bool> seen(data.size(), false);
  ir::Shape shape;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(data.size()) || seen[axis]) {
      return context.Invalid("perm is not a permutation of {} axes", data.size()).Field("perm");
    }
    seen[axis] = true;
    shape.push_back(data[axis]);
  }
  if (shape.size() != data.size()) {
    return context.Invalid("perm has {} axes, but data has {}", shape.size(), data.size())
        .Field("perm");
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const ir::Shape from = ir::StridesOf(data.shape());
  ir::Shape strides;
  for (const int64_t axis : PermOf(context.node, from.size())) strides.push_back(from[axis]);
  Gather(context.out().shape(), strides, ir::SizeOf(data.dtype()), data.raw(),
         context.out().mutable_raw(), context.pool);
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const std::vector<int64_t> perm = PermOf(node, graph.type(node.input(0)).shape.size());
  const auto at = std::find(perm.begin(), perm.end(), *from.axis);
  return OnAxis(from, static_cast<int>(at - perm.begin()));
}

// The identity if only axes of extent 1 move and the others keep their order.
int FirstIfInOrder(const ir::Graph& graph, const ir::Node& node) {
  const ir::Shape& shape = graph.type(node.input(0)).shape;
  int64_t last = -1;
  for (const int64_t axis : PermOf(node, shape.size())) {
    if (shape[axis] == 1) continue;
    if (axis < last) return -1;
    last = axis;
  }
  return 0;
}

}  // namespace

extern constexpr ir::OpDef kTranspose{
    .name = "Transpose",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kView,
    .identity_of = &FirstIfInOrder,
};

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// Compress(x, condition) {axis}: the slices along an axis for which the condition is true; without
// `axis`, the elements of the flattened tensor.  Type inference must know their number.
#include <cstring>

#include "core/ops/shared/flat_axis.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

std::vector<int64_t> Chosen(const ir::Tensor& condition) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (condition.IntAt(i) != 0) chosen.push_back(i);
  }
  return chosen;
}

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, AxisOrFlat(context, shape));
  const ir::Tensor* condition = context.known(1);
  if (condition == nullptr) return DependsOnData(context, 1, "condition");
  if (condition->dtype() != ir::DType::kBool || condition->rank() != 1 ||
      condition->size() > shape[axis]) {
    return context.Invalid("condition must be at most {} bools", shape[axis]);
  }
  shape[axis] = static_cast<int64_t>(Chosen(*condition).size());
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const bool flat = !context.node.attributes.Has("axis");
  const int axis = flat ? 0 : FrontAxis(context.node.attributes.Int("axis", 0), x.rank());
  const int64_t extent = flat ? x.size() : x.shape()[axis];
  const int64_t inner = flat ? 1 : ir::StridesOf(x.shape())[axis];
  const int64_t bytes = inner * ir::SizeOf(x.dtype());
  const std::vector<int64_t> chosen = Chosen(context.in(1));
  std::byte* to = context.out().mutable_raw();
  for (int64_t outer = 0; extent > 0 && outer < x.size() / (extent * inner); ++outer) {
    for (const int64_t i : chosen) {
      std::memcpy(to, x.raw() + (outer * extent + i) * bytes, bytes);
      to += bytes;
    }
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kCompress{
    .name = "Compress",
    .since = ir::Since(9),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops

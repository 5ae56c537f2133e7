// SPDX-License-Identifier: Apache-2.0
// OneHot(indices, depth, values) {axis}: values[1] where the position along the new axis equals the
// index, else values[0]; an index outside of [-depth, depth) matches no position.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Tensor* depth = context.known(1);
  if (depth == nullptr) return DependsOnData(context, 1, "depth");
  if (depth->size() != 1 || context.type(2).elements() != 2) {
    return context.Invalid("depth must be one number and values two");
  }
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", -1),
                                         static_cast<int>(shape.size()) + 1));
  const double extent = depth->FloatAt(0);
  if (!(extent >= 0 && extent < 0x1p40)) return context.Invalid("depth is {}", extent);
  shape.insert(shape.begin() + axis, static_cast<int64_t>(extent));
  context.SetResult(0, context.dtype(2), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& indices = context.in(0);
  const ir::Tensor& values = context.in(2);
  ir::Tensor& result = context.out();
  const int axis = FrontAxis(context.node.attributes.Int("axis", -1), result.rank());
  const int64_t depth = result.shape()[axis];
  const int64_t inner = ir::StridesOf(result.shape())[axis];
  const int element = ir::SizeOf(values.dtype());
  std::byte* to = result.mutable_raw();
  for (int64_t i = 0; i < result.size(); ++i) std::memcpy(to + i * element, values.raw(), element);
  for (int64_t i = 0; i < indices.size() && inner > 0; ++i) {
    const double given = indices.FloatAt(i);
    if (!(given >= static_cast<double>(-depth) && given < static_cast<double>(depth))) continue;
    int64_t index = static_cast<int64_t>(given);
    if (index < 0) index += depth;
    const int64_t at = (i / inner * depth + index) * inner + i % inner;
    std::memcpy(to + at * element, values.raw() + element, element);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kOneHot{
    .name = "OneHot",
    .since = ir::Since(9),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "its inputs are indices, not real values"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

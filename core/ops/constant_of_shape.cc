// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape(shape) {value}: a tensor of that shape filled with one value, by default f32 0.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"value", ir::AttrKind::kTensor}};

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(ir::Shape shape, context.KnownInts(0, "shape"));
  const ir::PayloadPtr value = context.node().attributes.TensorOf("value");
  if (value && value->tensor.size() != 1) {
    return context.Invalid("value has {} elements, but must have 1", value->tensor.size())
        .Field("value");
  }
  context.SetResult(0, value ? value->tensor.dtype() : ir::DType::kF32, std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::PayloadPtr value = context.node.attributes.TensorOf("value");
  if (!value) return {};  // results are zeroed
  const int element = ir::SizeOf(value->tensor.dtype());
  std::byte* to = context.out().mutable_raw();
  for (int64_t i = 0; i < context.out().size(); ++i) {
    std::memcpy(to + i * element, value->tensor.raw(), element);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kConstantOfShape{
    .name = "ConstantOfShape",
    .since = ir::Since(9),
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why =
                  "it has no real-valued input; it folds to a constant where its shape is known"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

// Reshape(data, shape) {allowzero}: -1 stands for what remains, 0 for data's own extent (with
// allowzero for 0 itself).
#include "core/ops/reshape_family.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"allowzero", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  OCTAVO_TRY(ir::Shape shape, context.KnownInts(1, "shape"));
  const bool zero_copies = context.node().attributes.Int("allowzero", 0) == 0;
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && zero_copies) {
      if (i >= data.size())
        return context.Invalid("shape keeps extent {} of rank {}", i, data.size());
      shape[i] = data[i];
    }
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int>(i);
    } else if (shape[i] < 0) {
      return context.Invalid("shape {} is not allowed", ir::ToString(shape));
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      return context.Invalid("shape {} is too large", ir::ToString(shape));
    }
  }
  const int64_t elements = ir::NumElements(data);
  if (open >= 0) {
    if (known == 0 || elements % known != 0) {
      return context.Invalid("{} elements do not divide into shape {}", elements,
                             ir::ToString(shape));
    }
    shape[open] = elements / known;
  } else if (known != elements) {
    return context.Invalid("shape {} cannot hold the {} elements of shape {}", ir::ToString(shape),
                           elements, ir::ToString(data));
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

}  // namespace

extern constexpr ir::OpDef kReshape{
    .name = "Reshape",
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &ReshapeMapQuant,
    .infer = &Infer,
    .reference = &ReshapeReference,
};

}  // namespace octavo::ops

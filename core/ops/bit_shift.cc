// BitShift(a, b) {direction}: unsigned integers shifted by b bits, LEFT or RIGHT, over the
// broadcast of both.  A shift by the width or more gives 0.
#include <limits>

#include "core/ops/integer_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"direction", ir::AttrKind::kString, true}};

Status Infer(ir::InferContext& context) {
  const std::string direction = context.node().attributes.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return context.Invalid("direction '{}' must be LEFT or RIGHT", direction).Field("direction");
  }
  if (ir::IsSigned(context.dtype(0))) {
    return context.Invalid("operands are {}, but must be unsigned", Name(context.dtype(0)));
  }
  return InferIntegers(context);
}

Status Reference(const ir::EvalContext& context) {
  const bool left = context.node.attributes.String("direction", "") == "LEFT";
  return IntegerBinary(context, [left](auto a, auto b) {
    using U = decltype(a);
    if (b >= std::numeric_limits<U>::digits) return U{0};
    return static_cast<U>(left ? uint64_t{a} << b : uint64_t{a} >> b);
  });
}

}  // namespace

extern constexpr ir::OpDef kBitShift{
    .name = "BitShift",
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops

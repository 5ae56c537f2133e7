// Xor(a, b): whether exactly one holds, element by element.
#include "core/ops/comparison.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return CompareReference(context, [](auto a, auto b) { return a != b; });
}

}  // namespace

extern constexpr ir::OpDef kXor{
    .name = "Xor",
    .inputs = {2, 2},
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &InferLogic,
    .reference = &Reference,
    .commutative = true,
};

}  // namespace octavo::ops

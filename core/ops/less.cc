// Less(a, b): whether a < b, element by element.
#include "core/ops/comparison.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return CompareReference(context, [](auto a, auto b) { return a < b; });
}

}  // namespace

extern constexpr ir::OpDef kLess{
    .name = "Less",
    .inputs = {2, 2},
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &InferComparison,
    .reference = &Reference,
};

}  // namespace octavo::ops

// HammingWindow(size) {output_datatype, periodic}: 25/46 - 21/46 cos(2 pi i / n), n being the size,
// or one less where it is not periodic.
#include "core/base/math.h"
#include "core/ops/made_window.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return MakeWindow(context, [](double angle) { return 25.0 / 46 - 21.0 / 46 * math::Cos(angle); });
}

}  // namespace

extern constexpr ir::OpDef kHammingWindow{
    .name = "HammingWindow",
    .attributes = kMadeWindowAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it reads no reals"},
    .infer = &InferMadeWindow,
    .reference = &Reference,
};

}  // namespace octavo::ops

// BlackmanWindow(size) {output_datatype, periodic}: 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i /
// n), n being the size, or one less where it is not periodic.
#include "core/base/math.h"
#include "core/ops/made_window.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return MakeWindow(context, [](double angle) {
    return 0.42 - 0.5 * math::Cos(angle) + 0.08 * math::Cos(2 * angle);
  });
}

}  // namespace

extern constexpr ir::OpDef kBlackmanWindow{
    .name = "BlackmanWindow",
    .attributes = kMadeWindowAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it reads no reals"},
    .infer = &InferMadeWindow,
    .reference = &Reference,
};

}  // namespace octavo::ops

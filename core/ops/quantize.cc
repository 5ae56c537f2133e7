// Quantize(x): the codes of reals, in the type of the result.  Free in its result, so a Rescale of
// it only changes that type.
#include "core/ops/border_op.h"

namespace octavo::ops {

extern constexpr ir::OpDef kQuantize{
    .name = "Quantize",
    .domain = "octavo",
    .quant = kFreeResult,
    .rescale = {.at_output = ir::RescaleRule::AtOutput::kAbsorbed},
    .infer = &InferReals,
    .reference = &PassReals,
};

}  // namespace octavo::ops

// Dequantize(q): the reals of codes, read by the type of the operand.
#include "core/ops/border_op.h"

namespace octavo::ops {

extern constexpr ir::OpDef kDequantize{
    .name = "Dequantize",
    .domain = "octavo",
    .quant = kFreeResult,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kAbsorbed},
    .infer = &InferReals,
    .reference = &PassReals,
};

}  // namespace octavo::ops

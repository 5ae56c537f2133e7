// Rescale(q): the same reals as codes of another type: Quantize(Dequantize(q)).
#include "core/ops/border_op.h"

namespace octavo::ops {

extern constexpr ir::OpDef kRescale{
    .name = "Rescale",
    .domain = "octavo",
    .quant = kFreeResult,
    .rescale = {},
    .infer = &InferReals,
    .reference = &PassReals,
};

}  // namespace octavo::ops

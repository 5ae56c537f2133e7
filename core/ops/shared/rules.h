// SPDX-License-Identifier: Apache-2.0
// Quantization rules and Rescale rules that many rows share.
#pragma once

#include "core/ir/op_def.h"

namespace octavo::ops {

// Ops that compute real values: the result's parameters are free, and the op scales its operands
// itself, so a Rescale folds into it on either side.
inline constexpr ir::QuantRule kFreeResult{.kind = ir::QuantRule::Kind::kFree, .why = {}};
inline constexpr ir::RescaleRule kFoldsRescale{
    .at_input = ir::RescaleRule::AtInput::kFold,
    .at_output = ir::RescaleRule::AtOutput::kFold,
};

// Same-scale ops: they move or compare quantized values, so a Rescale moves past them.
inline constexpr ir::QuantRule kSameScale{.kind = ir::QuantRule::Kind::kSameScale, .why = {}};
inline constexpr ir::RescaleRule kMovesRescale{
    .at_input = ir::RescaleRule::AtInput::kSink,
    .at_output = ir::RescaleRule::AtOutput::kHoist,
};

// Ops whose results are not real values: bools, indices, plain integers.
inline constexpr ir::QuantRule kNotReal{.kind = ir::QuantRule::Kind::kNotReal, .why = {}};

// Ops whose result lies in [min, max] whatever the operand is.
constexpr ir::QuantRule FixedRange(float min, float max) {
  return {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {min, max}};
}

}  // namespace octavo::ops

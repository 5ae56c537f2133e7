// SPDX-License-Identifier: Apache-2.0
// Quantization rules and Rescale rules that many rows share.
#pragma once

#include "core/ir/op_def.h"

namespace octavo::ops {

// Ops that compute real values: calibration chooses the result's parameters, and the op scales its
// operands itself, so a Rescale on either side folds into it.
inline constexpr ir::QuantRule kFreeResult{.kind = ir::QuantRule::Kind::kFree, .why = {}};
inline constexpr ir::RescaleRule kFoldsRescale{
    .at_input = ir::RescaleRule::AtInput::kFold,
    .at_output = ir::RescaleRule::AtOutput::kFold,
};

// Same-scale ops: they move or compare quantized values, so a Rescale can move past them.
inline constexpr ir::QuantRule kSameScale{.kind = ir::QuantRule::Kind::kSameScale, .why = {}};
inline constexpr ir::RescaleRule kMovesRescale{
    .at_input = ir::RescaleRule::AtInput::kSink,
    .at_output = ir::RescaleRule::AtOutput::kHoist,
};

// Ops whose results are not real values: bools, indices, plain integers.
inline constexpr ir::QuantRule kNotReal{.kind = ir::QuantRule::Kind::kNotReal, .why = {}};

// Ops whose result is within [min, max] for every operand.
constexpr ir::QuantRule FixedRange(float min, float max) {
  return {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {min, max}};
}

}  // namespace octavo::ops

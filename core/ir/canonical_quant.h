// SPDX-License-Identifier: Apache-2.0
// The one form of equal quantization parameters: an axis with a single scale says nothing, so a
// type with one scale is per tensor.  ONNX form cannot hold such an axis either.  (G5) demands the
// form of every value; whoever creates parameters for an axis of any extent establishes it.  Blocks
// keep their axis: ONNX has it, and other types have no negative scales.
#pragma once

#include "core/ir/type.h"

namespace octavo::ir {

bool IsCanonical(const Quant& quant);
// `quant` without an axis that has a single scale, except of blocks.
Quant Canonical(Quant quant);

}  // namespace octavo::ir

// SPDX-License-Identifier: Apache-2.0
// The rule max-to-clip: a Max or Min with a scalar before Quantize becomes a Clip, which integer-op
// folds.  TensorFlow's exporters write Relu6 as such a pair.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

void MaxToClip(ir::Graph& graph, Context& context);

}  // namespace octavo::passes

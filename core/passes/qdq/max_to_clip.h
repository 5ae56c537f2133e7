// SPDX-License-Identifier: Apache-2.0
// The rule max-to-clip: a Max or Min with a scalar before Quantize becomes a Clip, which integer-op
// folds.  TensorFlow's exporters write Relu6 as such a pair.
#pragma once

#include <set>
#include <string>

#include "core/passes/pass.h"

namespace octavo::passes {

// Except a node in `kept_float`.
void MaxToClip(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context);

}  // namespace octavo::passes

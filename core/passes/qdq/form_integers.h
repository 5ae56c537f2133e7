// SPDX-License-Identifier: Apache-2.0
// The rules of fold-qdq on a graph that has gone through other passes: an op that they have left
// between Dequantize and Quantize, since what stood in between moved or was folded.
#pragma once

#include <array>
#include <set>
#include <string>

#include "core/passes/pass.h"
#include "core/passes/quantize/float_choice.h"

namespace octavo::passes {

// integer-op, same-scale-op and quantize-bias of fold-qdq.
extern const std::array<Rule, 3> kFormRules;

// Applies them wherever they hold, if import notes that the model was in QDQ form
// (ir::kQdqFloatsKey); elsewhere a float op is float on purpose, as are the nodes in `kept_float`
// and those of the choice.
void FormIntegers(ir::Graph& graph, const std::set<std::string>& kept_float,
                  const FloatChoice& choice, Context& context);

}  // namespace octavo::passes

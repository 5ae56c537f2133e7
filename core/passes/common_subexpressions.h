// SPDX-License-Identifier: Apache-2.0
// Common subexpression elimination: keeps one of several nodes that compute the same result.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// The rule's row in the table of a pass.
constexpr Rule CseRule(std::string_view id) {
  return {
      .id = id,
      .pattern = "Op(a), Op(a)",
      .replacement = "one Op(a)",
      .effect = Effect::kExact,
      .condition =
          "same op, operands, attributes and types, quantization included; not the pending "
          "Quantize of a constant, whose consumers may still get parameters of their own",
  };
}

// Applies `rule` until no two nodes are equal; the graph is sorted afterwards.
Status EliminateCommonSubexpressions(ir::Graph& graph, Context& context, const Rule& rule);

}  // namespace octavo::passes

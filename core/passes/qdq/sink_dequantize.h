// SPDX-License-Identifier: Apache-2.0
// The rule sink-dequantize: the Dequantize of a constant sinks below ops that only move its
// elements, so that it becomes adjacent to the op that consumes them.  Exporters store weights with
// another order of axes, or quantize them as rows.
#pragma once

#include <set>
#include <string>

#include "core/passes/pass.h"

namespace octavo::passes {

// Except past a node in `kept_float`.
void SinkDequantize(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context);

}  // namespace octavo::passes

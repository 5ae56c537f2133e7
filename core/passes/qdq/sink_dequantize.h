// SPDX-License-Identifier: Apache-2.0
// The rule sink-dequantize: the Dequantize of a constant moves below the ops that only move its
// elements, so that the op that consumes them finds it at its own input.  Exporters store weights
// in another order of axes, or quantize them as rows.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

void SinkDequantize(ir::Graph& graph, Context& context);

}  // namespace octavo::passes

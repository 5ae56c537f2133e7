// SPDX-License-Identifier: Apache-2.0
// Executes a graph before and after a pass and compares the difference with the weakest numeric
// effect that the pass declared.
#pragma once

#include <optional>
#include <span>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::golden {

// Whether the mode defines every op of the graph.
bool IsDefined(const ir::Graph& graph, const numerics::Mode& mode);

// Runs both graphs in the mode, or by definition if the mode does not define one of their ops. With
// `steps`, graph outputs must agree within that many quantization steps, whatever the effect.
// Otherwise: exact requires equal bits of every value that both graphs have with one type;
// real-exact requires equality within float rounding; fewer-roundings requires graph outputs within
// one quantization step.  Weaker effects only require that both graphs run.
Status CheckNumbers(const ir::Graph& before, const ir::Graph& after,
                    std::span<const passes::LedgerEntry> ledger, const numerics::Mode& mode,
                    std::optional<double> steps);

}  // namespace octavo::golden

// SPDX-License-Identifier: Apache-2.0
// Executes a graph as it was and as a pass left it, and holds the difference against the weakest
// numeric effect that the pass declared.
#pragma once

#include <optional>
#include <span>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::golden {

// Whether the mode defines every op of the graph.
bool IsDefined(const ir::Graph& graph, const numerics::Mode& mode);

// Both graphs run in the mode; by definition where it does not define one of their ops.  With
// `steps`: graph outputs within that many quantization steps, whatever the effect.  Else
// exact: equal bits of every value that both graphs have with one type.  real-exact: within float
// rounding.  fewer-roundings: graph outputs within one quantization step.  Weaker effects
// are executed, but allow any difference.
Status CheckNumbers(const ir::Graph& before, const ir::Graph& after,
                    std::span<const passes::LedgerEntry> ledger, const numerics::Mode& mode,
                    std::optional<double> steps);

}  // namespace octavo::golden

// Executes a graph as it was and as a pass left it, and holds the difference against the weakest
// numeric effect that the pass declared.
#pragma once

#include <optional>
#include <span>

#include "core/ir/graph.h"
#include "core/ir/numerics.h"
#include "core/passes/ledger.h"

namespace octavo::golden {

// Whether the mode defines every op of the graph.
bool IsDefined(const ir::Graph& graph, ir::Numerics mode);

// Both graphs run in the mode; by definition where it does not define one of their ops.  With
// `steps`: graph outputs within that many quantization steps, whatever the effect.  Else
// exact: equal bits of every value that both graphs have with one type.  real-exact: within float
// rounding.  fewer-roundings: graph outputs within one quantization step.  Weaker effects
// are executed, but promise nothing that could be compared.
Status CheckNumbers(const ir::Graph& before, const ir::Graph& after,
                    std::span<const passes::LedgerEntry> ledger, ir::Numerics mode,
                    std::optional<double> steps);

}  // namespace octavo::golden

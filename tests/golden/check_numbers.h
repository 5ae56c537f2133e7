// Executes a graph as it was and as a pass left it, and holds the difference against the weakest
// numeric effect that the pass declared.
#pragma once

#include <span>

#include "core/ir/graph.h"
#include "core/passes/ledger.h"

namespace octavo::golden {

// exact: equal bits of every value that both graphs have with one type.  real-exact: within float
// rounding.  fewer-roundings: graph outputs within `steps` quantization steps.  Weaker effects
// are executed, but promise nothing that could be compared.
Status CheckNumbers(const ir::Graph& before, const ir::Graph& after,
                    std::span<const passes::LedgerEntry> ledger, double steps);

}  // namespace octavo::golden

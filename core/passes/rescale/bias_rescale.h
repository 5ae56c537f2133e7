// SPDX-License-Identifier: Apache-2.0
// Re-expresses a quantized bias at the new s_x * s_w when the type of the data operand changes.  A
// pending bias (Quantize of a float constant) can be re-expressed wherever it fits; one that is
// already rounded only where that loses nothing; else the change is refused.  A float bias gets its
// scale last and needs nothing.
#pragma once

#include <string>

#include "core/ir/graph.h"

namespace octavo::passes {

// The scales at which a bias that is already rounded may be re-expressed.
enum class BiasScale {
  kOnlyFiner,
  kCoarser,  // also coarser ones up to a sixteenth of the result's step: new-parameters
};

// Why the bias of `reader` cannot be re-expressed in `bits` bits for data of type `data`; "" if it
// can be, or there is nothing to do.
std::string WhyBiasStays(const ir::Graph& graph, ir::NodeId reader, const ir::Type& data, int bits,
                         BiasScale allowed = BiasScale::kOnlyFiner);

// Re-expresses the bias of `reader` for data of type `data`.  Returns "" when that is done or there
// is nothing to do; else the reason, and nothing has changed.
std::string ReexpressBias(ir::Graph& graph, ir::NodeId reader, const ir::Type& data, int bits,
                          BiasScale allowed = BiasScale::kOnlyFiner);

}  // namespace octavo::passes

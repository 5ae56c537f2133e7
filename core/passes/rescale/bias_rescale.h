// SPDX-License-Identifier: Apache-2.0
// Re-expresses a quantized bias at the new s_x * s_w when the type of the data operand changes.  A
// pending bias (Quantize of a float constant) can be re-expressed whenever it fits; a bias that is
// already rounded, only if that loses nothing.  Otherwise the change is refused.  A float bias gets
// its scale last and needs no change.
#pragma once

#include <string>

#include "core/ir/graph.h"

namespace octavo::passes {

// The scales at which an already rounded bias may be re-expressed.
enum class BiasScale {
  kOnlyFiner,
  kCoarser,  // also coarser ones, up to a sixteenth of the result's step: new-parameters
};

// Why the bias of `consumer` cannot be re-expressed in `bits` bits for data of type `data`; "" if
// it can, or if there is nothing to do.
std::string WhyBiasStays(const ir::Graph& graph, ir::NodeId consumer, const ir::Type& data,
                         int bits, BiasScale allowed = BiasScale::kOnlyFiner);

// Re-expresses the bias of `consumer` for data of type `data`.  Returns "" on success or if there
// is nothing to do; else the reason, and changes nothing.
std::string ReexpressBias(ir::Graph& graph, ir::NodeId consumer, const ir::Type& data, int bits,
                          BiasScale allowed = BiasScale::kOnlyFiner);

}  // namespace octavo::passes

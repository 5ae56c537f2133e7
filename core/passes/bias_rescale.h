// What becomes of a quantized bias when the type of the data operand changes: it is re-expressed
// at the new s_x * s_w (codes where nothing is lost by it, a pending Quantize of floats always
// where it fits), or the change is refused.  A float bias has nothing to re-express; its scale is
// chosen last.
#pragma once

#include <string>

#include "core/ir/graph.h"

namespace octavo::passes {

// What may happen to codes whose floats nobody has any more.
enum class BiasCodes {
  kOnlyFiner,
  kCoarser,  // as well, to a sixteenth of the result's step at most: new parameters
};

// Why the bias of `reader` cannot be re-expressed for data of type `data` in codes of `bits` bits;
// "" where it can be, or there is nothing to do.
std::string WhyBiasStays(const ir::Graph& graph, ir::NodeId reader, const ir::Type& data, int bits,
                         BiasCodes codes = BiasCodes::kOnlyFiner);

// Re-expresses the bias of `reader` for data of type `data`.  "" when done (or nothing to do),
// else the reason why it cannot be and nothing has changed.
std::string ReexpressBias(ir::Graph& graph, ir::NodeId reader, const ir::Type& data, int bits,
                          BiasCodes codes = BiasCodes::kOnlyFiner);

}  // namespace octavo::passes

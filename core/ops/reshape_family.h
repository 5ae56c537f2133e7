// What Reshape, Flatten, Squeeze and Unsqueeze share: elements stay in order, only the shape
// changes.
#pragma once

#include "core/ops/data_op.h"

namespace octavo::ops {

// Result 0 has the elements of input 0.
Status ReshapeReference(const ir::EvalContext& context);
// The axis rule from the shape of input 0 to that of result 0.
std::optional<ir::Quant> ReshapeMapQuant(const ir::Graph& graph, const ir::Node& node, int input,
                                         const ir::Quant& from);

}  // namespace octavo::ops

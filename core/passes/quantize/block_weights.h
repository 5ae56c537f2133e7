// SPDX-License-Identifier: Apache-2.0
// Types of the weights that nodes which compute in float store as integers (--weights-only): with
// --weights i4, matrices of MatMul and Gemm have 4 bits, in blocks.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// The type of a matrix in blocks along `axis`, which `block` divides.  A block's scale is its
// element of largest magnitude (of equal ones the first), divided by -8: that element has the
// integer -8, of which there is no positive counterpart.  1 if the quotient is 0.
ir::Type BlockType(const ir::Tensor& weight, int axis, int block);

// The type of the constant `weight` at input `input` of the node.  Where the option asks for blocks
// that are not possible, that of other weights, with the reason in the ledger.
ir::Type StoredWeightType(const ir::Graph& graph, const ir::Node& node, size_t input,
                          const ir::Tensor& weight, Context& context);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Per-channel parameters of a reshaped value: the rules R0 to R4 of the axis rule.  In a row-major
// value of shape A with channel axis a, let C = A[a] and S = product of A[i], i > a; the channel of
// flat index k is (k / S) mod C.  A reshape keeps k.
#pragma once

#include <optional>

#include "core/ir/type.h"

namespace octavo::ops {

// The parameters that a value of shape `from` with `quant` has in shape `to`.  The shapes have
// equal element counts.  With B = `to` and T_b = product of B[i], i > b:
//   R0  all parameters equal: per-tensor
//   R1  an axis b with B[b] = C and T_b = S: unchanged along b
//   R2  an axis b with T_b | S and S*C | T_b*B[b]: parameter j of b is q[(j * T_b / S) mod C]
//   R3  an axis b with finer or coarser blocks, if the parameters allow it
//   R4  nullopt: no type of that shape expresses them
// If several axes qualify, the innermost one is used.
std::optional<ir::Quant> ReshapeQuant(const ir::Quant& quant, const ir::Shape& from,
                                      const ir::Shape& to);

// R0 only: per-tensor parameters if all channels are equal; else nullopt.
std::optional<ir::Quant> IfUniform(const ir::Quant& from);

}  // namespace octavo::ops

// SPDX-License-Identifier: Apache-2.0
// Per-channel parameters of a reshaped value: the rules R0 to R4 of the axis rule.  In a row-major
// value of shape A with axis a, C = A[a] and S = product of A[i], i > a, the channel of flat index
// k is (k / S) mod C; a reshape keeps k.
#pragma once

#include <optional>

#include "core/ir/type.h"

namespace octavo::ops {

// The parameters that a value of shape `from` with `quant` has in shape `to` (as many elements):
//   R0  all parameters equal: per-tensor
//   R1  an axis b with B[b] = C and T_b = S: unchanged along b
//   R2  an axis b with T_b | S and S*C | T_b*B[b]: parameter j of b is q[(j * T_b / S) mod C]
//   R3  an axis b of finer or coarser cut, where the parameters allow it
//   R4  nullopt: no type of that shape expresses them
// The innermost such axis is taken.
std::optional<ir::Quant> ReshapeQuant(const ir::Quant& quant, const ir::Shape& from,
                                      const ir::Shape& to);

// R0 alone: all channels alike are per-tensor; else nothing.
std::optional<ir::Quant> IfUniform(const ir::Quant& from);

}  // namespace octavo::ops

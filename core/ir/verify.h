// SPDX-License-Identifier: Apache-2.0
// The invariants of a graph, by number.  The pass runner checks them after every pass; the importer
// and the text parser check them before they return a graph.
//
//   (G1)  links agree: every use is listed at its value, every result at its producer
//   (G2)  nodes are in topological order
//   (G3)  names of values are unique and not empty; names of nodes too
//   (G4)  a result's expressed type is the one that its op infers
//   (G5)  quantization is well-formed: an integer dtype, finite positive scales, zero points
//         within the dtype's range, as many of both as the axis has channels or blocks, and
//         no axis where there is one (canonical_quant.h); scales of blocks may be 0 or negative
//   (G6)  a same-scale op has equal quantization parameters on its data inputs and its result, or
//         parameters that match by its axis rule
//   (G7)  an op or operand that has no integer form is not quantized
//   (G8)  a constant's data has the type's dtype and shape
//   (G9)  a quantized bias has the accumulator's scale s_x * s_w and zero point 0
//   (G10) Quantize has a float operand and a quantized result, Dequantize the reverse; both of a
//         Rescale are quantized; a Reinterpret has an integer operand and a quantized result
//   (G11) 4-bit elements are quantized in blocks; a value that is quantized in blocks is a constant
//         or a Quantize of one, is no output, and only Dequantize reads it
#pragma once

#include "core/ir/graph.h"

namespace octavo::ir {

// OK, or kInternal "(G4) Conv 'x': ..." with the node's name.
Status Verify(const Graph& graph);

// (G5) for one type.  Importers report it as kInvalidArgument.
Status CheckQuant(std::string_view value_name, const Type& type);

}  // namespace octavo::ir

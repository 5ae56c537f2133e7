// Activations in i8 as the same activations in u8, which the integer products multiply in place:
// codes and zero points rise by 128, scales stay, and so does every real that a code stands for.
#pragma once

#include "core/ir/graph.h"

namespace octavo::runtime {

// Mode `onnx` rounds before it adds a zero point, so a graph's results have the same bits when the
// values listed, all with one scale and zero point, hold codes that are 128 higher.  They are the
// computed i8 values whose codes nobody outside sees, and constants that are added to such; ops
// that move codes keep one type.
std::vector<ir::ValueId> SignedActivations(const ir::Graph& graph);

// Gives those values the type u8.
void MakeUnsigned(std::span<const ir::ValueId> values, ir::Graph& graph);

// The codes of such a value as i8 again.
ir::Tensor SignedCodes(const ir::Tensor& codes);

}  // namespace octavo::runtime

// Gives a clamp before Quantize the form that folds into integers:
//
//   Max(x, c)  ->  Clip(x, c, )       Min(x, c)  ->  Clip(x, , c)       c a scalar constant
//
// where the result is only quantized, or clamped once more and then quantized.  Exporters of
// TensorFlow write Relu6 as such a pair.
#pragma once

#include "core/ir/graph.h"

namespace octavo::onnx {

void ClampCodes(ir::Graph& graph);

}  // namespace octavo::onnx

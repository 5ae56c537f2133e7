// Moves the Dequantize of constants below what moves their elements, so that the operator that
// reads them finds it in front of itself:
//
//   move(Dequantize(w))  ->  Dequantize(move(w))      w a constant, or the Quantize of one
//
// Exporters store weights in their own order of axes, or quantize them as rows.
#pragma once

#include "core/ir/graph.h"

namespace octavo::onnx {

void SinkDequantize(ir::Graph& graph);

}  // namespace octavo::onnx

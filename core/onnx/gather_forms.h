// Puts operators together that a model writes out between DequantizeLinear and QuantizeLinear, so
// that they fold into one operator on codes:
//
//   Quantize(x * Sigmoid(x)), x = Dequantize(..)  ->  Quantize(Swish(x))
//
// The forms are those of core/patterns.  An exporter for an older operator set has no other way to
// say such an operator, and one QuantizeLinear behind all of it says that it is rounded once.
#pragma once

#include "core/ir/graph.h"

namespace octavo::onnx {

void GatherForms(ir::Graph& graph);

}  // namespace octavo::onnx

// Turns operators that stand between Dequantize and Quantize into operators on quantized types.
//
//   Quantize(Op(Dequantize(a), ..))      ->  Op(a, ..)             if Op has an integer form
//   Quantize(Concat(Dequantize(a), ..))  ->  Concat(Rescale(a)..)  if Op keeps its operands' type
//   Quantize(Dequantize(a))              ->  Rescale(a), or a if the types are equal
//
// An operator with any other reader or operand stays float.
#pragma once

#include <set>
#include <unordered_map>

#include "core/onnx/import.h"

namespace octavo::onnx {

struct FoldOptions {
  bool own = false;                    // Octavo wrote the model: ".q" marks the integers of a value
  std::set<std::string> pending = {};  // float biases to be quantized at s_x * s_w
};

// `plain_of` leads from a quantized constant or reinterpretation to the plain integer behind it.
// The result has new values; names of `graph` that none of them carries are aliases.
Result<ir::Graph> FoldQdq(const ir::Graph& graph,
                          const std::unordered_map<ir::ValueId, ir::ValueId>& plain_of,
                          const FoldOptions& options, std::vector<NewArithmetic>& changed);

}  // namespace octavo::onnx

// What the tensors of a quantized value are called in a model:
//
//   y       computed      y.float -> QuantizeLinear -> y.q -> DequantizeLinear -> y
//   w       constant                                   w.q -> DequantizeLinear -> w
//   x.q     Quantize(x)         x -> QuantizeLinear -> x.q -> DequantizeLinear -> x.dq
//   y.q     with y its Dequantize  y.float -> Quant.. -> y.q -> DequantizeLinear -> y
//   x       an integer input                             x -> DequantizeLinear -> x.dq
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/ir/graph.h"

namespace octavo::onnx {

struct CodeNames {
  std::string before = {};    // the float that is quantized
  std::string integers = {};  // the codes
  std::string reals = {};     // the codes as floats: what readers read
  std::string scale = {};
  std::string zero_point = {};
};

class ExportNames {
 public:
  explicit ExportNames(const ir::Graph& graph);

  // Names of a quantized value.  Valid while this object lives.
  const CodeNames& Of(ir::ValueId value);
  // `base`, or `base_1`.. where that is taken; it is taken from then on.
  std::string Unique(const std::string& base);
  std::string UniqueNode(const std::string& base);
  // A Dequantize of the value, one whose result is a graph output if there is any.
  ir::NodeId DequantizeOf(ir::ValueId value) const;

 private:
  const ir::Graph& graph_;
  const ir::OpDef* dequantize_;
  std::unordered_set<std::string> taken_, taken_nodes_;
  std::unordered_map<ir::ValueId, CodeNames> names_;
};

}  // namespace octavo::onnx

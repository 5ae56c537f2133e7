// SPDX-License-Identifier: Apache-2.0
// Names of the tensors of a quantized value in a model:
//
//   y       computed      y.float -> QuantizeLinear -> y.q -> DequantizeLinear -> y
//   w       constant                                   w.q -> DequantizeLinear -> w
//   x.q     Quantize(x)         x -> QuantizeLinear -> x.q -> DequantizeLinear -> x.dq
//   y.q     if y = Dequantize(y.q)  y.float -> Quant.. -> y.q -> DequantizeLinear -> y
//   x       an integer input                             x -> DequantizeLinear -> x.dq
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/ir/graph.h"

namespace octavo::onnx {

struct QuantizedNames {
  std::string before = {};       // the input of QuantizeLinear
  std::string integers = {};     // its output: the stored integers
  std::string dequantized = {};  // the output of DequantizeLinear, used by consumers
  std::string scale = {};
  std::string zero_point = {};
};

class ExportNames {
 public:
  explicit ExportNames(const ir::Graph& graph);

  // Names for a quantized value.  The result is valid during the lifetime of this object.
  const QuantizedNames& Of(ir::ValueId value);
  // Reserves and returns `base`, or `base_1`.. if that name is taken.
  std::string Unique(const std::string& base);
  // Keeps Unique from a name.
  void Reserve(const std::string& name) { taken_.insert(name); }
  std::string UniqueNode(const std::string& base);
  // A Dequantize of the value; preferably one whose result is a graph output.
  ir::NodeId DequantizeOf(ir::ValueId value) const;

 private:
  // Whether no tensor of the model has the value's name.
  bool IsUnwritten(const ir::Value& value) const;

  const ir::Graph& graph_;
  const ir::OpDef* dequantize_;
  std::unordered_set<std::string> taken_, taken_nodes_;
  std::unordered_map<ir::ValueId, QuantizedNames> names_;
};

}  // namespace octavo::onnx

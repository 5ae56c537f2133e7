// Writes a graph's nodes at one opset.
#pragma once

#include "core/onnx/draft.h"
#include "core/onnx/export_names.h"
#include "core/onnx/model_writer.h"

namespace octavo::onnx {

// Why an opset does not do: the least one that may, and the node that asks for it.
struct NeedsOpset {
  int64_t opset = 0;
  std::string node = {};
  std::string op = {};
};

class GraphWriter {
 public:
  GraphWriter(const ir::Graph& graph, Form form, int64_t opset, ModelWriter& writer);

  // Writes all; where the opset is too low, says so.
  Result<std::optional<NeedsOpset>> Run();

 private:
  Status WriteNode(ir::NodeId id);
  Status WriteOperator(ir::NodeId id);
  // The operators that say the draft at this opset.
  void WriteConversion(ir::NodeId id, Conversion conversion);
  Status WriteQuantize(ir::NodeId id, const std::string& source);
  void WriteDequantize(ir::NodeId id);
  bool WriteQLinear(ir::NodeId id);
  bool CanBeQLinear(ir::NodeId id) const;

  // The name under which a node reads a value as reals (or as what it is, if not quantized).
  std::string Read(ir::ValueId value);
  // The name of a value's codes.
  std::string Codes(ir::ValueId value);
  // Writes the DequantizeLinear behind a quantized value, once.
  std::string Reals(ir::ValueId value);
  // Names of the initializers with a quantized value's parameters.
  std::vector<std::string> Parameters(ir::ValueId value);
  bool IsPendingBias(ir::ValueId value) const;
  ir::AttrMap AxisOf(const ir::Type& type) const;
  void Need(int64_t opset, ir::NodeId id);
  void NeedForQuant(const ir::Type& type, std::string_view name);

  const ir::Graph& graph_;
  Form form_;
  int64_t opset_;
  ModelWriter& writer_;
  ExportNames names_;
  const ir::OpDef *quantize_, *dequantize_, *rescale_, *reinterpret_;
  std::unordered_set<ir::ValueId> has_reals_;
  std::vector<std::string> pending_;
  std::optional<NeedsOpset> needs_;
};

}  // namespace octavo::onnx

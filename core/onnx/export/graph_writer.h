// SPDX-License-Identifier: Apache-2.0
// Writes a graph's nodes at one opset.
#pragma once

#include "core/onnx/export/export_names.h"
#include "core/onnx/export/model_writer.h"
#include "core/onnx/export/quirks.h"
#include "core/onnx/versions/draft.h"

namespace octavo::onnx {

class GraphWriter {
 public:
  // `options` must outlive the writer; `opset` stands for theirs.
  GraphWriter(const ir::Graph& graph, const ExportOptions& options, int64_t opset,
              ModelWriter& writer);

  // Writes all nodes, or returns the requirement that the opset does not meet.
  Result<std::optional<NeedsOpset>> Run();

 private:
  Status WriteNode(ir::NodeId id);
  Status WriteOperator(ir::NodeId id);
  using Locals = std::unordered_map<std::string, std::string>;
  // Writes the draft with the operator versions of this opset.  `locals`: tensors that operands of
  // the draft name.
  void WriteConversion(ir::NodeId id, Conversion conversion, Locals locals);
  // Writes what a quirk of the runtime asks for between `source` and the node's QuantizeLinear;
  // returns what that reads.
  std::string Guarded(ir::NodeId id, const std::string& source);
  // Notes the types of the value's tensor of that name: the stored integers, or the real values.
  void TypeIntegers(ir::ValueId value, const std::string& name);
  void TypeReal(ir::ValueId value, const std::string& name);
  // Writes the bias of the node as the quirks of the runtime need it; empty: as it is.
  std::string BiasForRuntime(ir::NodeId id);
  // Writes the weights in blocks of a Gemm without transB, as the runtime fuses them, and erases
  // the attribute; empty: as they are.
  std::string WeightForRuntime(const ir::Node& node, ir::AttrMap& attributes);
  ir::ValueId BlocksOf(const ir::Node& node) const;
  // Writes the transposed integers and parameters; returns their names.
  std::vector<std::string> TransposedBlocks(ir::ValueId blocked, const std::string& stem);
  // The attributes of the node as the quirks of the runtime need them.
  ir::AttrMap AttributesForRuntime(ir::NodeId id) const;
  // Whether the runtime has to compute the sum in double.
  bool SumsInDouble(ir::NodeId id) const;
  // Writes a Cast of tensor `from` to the dtype of `type`; returns its output, `to`.
  std::string WriteCast(const std::string& from, const std::string& to, ir::Type type);
  Status WriteQuantize(ir::NodeId id, const std::string& source);
  // Writes the DequantizeLinear of a graph output, once.
  void WriteDequantize(ir::NodeId id);
  // Writes those that the node would need: nodes of their own when the model is read again, they
  // stand in front of those of its other operands.
  void WriteOutputsAmongOperands(const ir::Node& node);
  bool WriteQLinear(ir::NodeId id);
  bool CanBeQLinear(ir::NodeId id) const;

  // The name of the tensor that a float operator uses: the dequantized one if the value is
  // quantized.
  std::string Read(ir::ValueId value);
  // The name of the integer tensor of a quantized value.
  std::string Quantized(ir::ValueId value);
  // Writes the DequantizeLinear of a quantized value, once; returns its output's name.
  std::string Dequantized(ir::ValueId value);
  // Names of the initializers with a quantized value's parameters.
  std::vector<std::string> Parameters(ir::ValueId value);
  bool IsPendingBias(ir::ValueId value) const;
  // Whether the input is a bias of an integer op that specialize-bias has not seen yet.
  bool IsFloatBias(const ir::Node& node, size_t input) const;
  // Writes a list of names as metadata, unless it is empty.
  void NoteNames(const std::string& key, const std::vector<std::string>& names);
  ir::AttrMap AxisOf(const ir::Type& type) const;
  void Need(int64_t opset, ir::NodeId id);
  void NeedForQuant(const ir::Type& type, std::string_view name);

  const ir::Graph& graph_;
  const ExportOptions& options_;
  int64_t opset_;
  ModelWriter& writer_;
  ExportNames names_;
  const ir::OpDef *quantize_, *dequantize_, *rescale_, *reinterpret_;
  // Quantized values whose DequantizeLinear is written, and graph outputs that have their own.
  std::unordered_set<ir::ValueId> has_dequantized_;
  // Of blocked constants: the output of the DequantizeLinear of their transposed form.
  std::unordered_map<ir::ValueId, std::string> transposed_;
  std::vector<std::string> pending_, float_biases_, float_results_, written_out_;
  std::optional<NeedsOpset> needs_;
  QuirkFinder quirks_;
  std::string zero_;  // the name of an initializer; empty until one is needed
};

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
// Builds a graph node by node in topological order and infers the types of added nodes.  Names of
// new values never collide with names in the model.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/ir/infer.h"
#include "core/onnx/import/import.h"
#include "core/onnx/versions/draft.h"

namespace octavo::onnx {

class GraphBuilder {
 public:
  // `own`: Octavo wrote the model, so NAME.float denotes an operator's result before
  // QuantizeLinear.
  GraphBuilder(ir::Graph& graph, OpFinder find_op, bool own)
      : graph_(graph), inference_(graph), find_op_(std::move(find_op)), own_(own) {}
  GraphBuilder(const GraphBuilder&) = delete;

  ir::Graph& graph() { return graph_; }
  const ir::Graph& graph() const { return graph_; }

  // Reserves a name that the model uses; Fresh never returns it.
  void Reserve(const std::string& name) { reserved_.insert(name); }
  void ReserveNode(const std::string& name) { reserved_nodes_.insert(name); }
  // `base` or `base_1`..: a value or node name that the model does not use.
  std::string Fresh(const std::string& base);
  std::string FreshNode(const std::string& base) const;

  Status Add(const Conversion& conversion);
  // Adds a node of Octavo's own domain with the given result type.
  Result<ir::ValueId> AddOwn(std::string_view op, const std::string& node,
                             const std::string& result, ir::ValueId operand, ir::Type type);
  // `value` with the parameters `quant`: the value itself if it already has them, else a
  // Reinterpret of the unquantized integer value.
  Result<ir::ValueId> AsQuantized(ir::ValueId value, const ir::Quant& quant,
                                  std::string_view reader);
  // The same for the constant that a DequantizeLinear of Octavo reads.  Export writes one for each
  // value, and more only for graph outputs: several of one constant mean equal values that are
  // stored once.
  Result<ir::ValueId> AsDequantized(ir::ValueId value, const ir::Quant& quant,
                                    const Draft& dequantize);
  // The constant `value` quantized in blocks, with integers of 4 bits if it had them in the model:
  // the value itself if nothing reads the plain integers, else a copy for each type.
  Result<ir::ValueId> AsBlocked(ir::ValueId value, const ir::Quant& quant);
  // Adds a node with quantized operands and a result of the given type.
  Result<ir::ValueId> AddQuantized(std::string_view op, const Draft& draft,
                                   std::vector<ir::ValueId> inputs, ir::AttrMap attributes,
                                   const ir::Type& type);

  // The elements of a draft's input if they are constant or follow from constants; else null. Valid
  // until the next node is added.
  const ir::Tensor* Elements(const Draft& draft, size_t input) const;

  // Of plain integers: by anything other than a DequantizeLinear with blocks.
  void NoteRead(const std::string& name) { read_.insert(name); }
  void NoteOutput(const std::string& name) { outputs_.insert(name); }
  // Records constants of 4-bit integers; they are stored widened to 8 bits.
  void NoteFourBit(const std::string& name) { four_bit_.insert(name); }
  bool IsFourBit(ir::ValueId value) const { return four_bit_.count(graph_.name(value)) > 0; }

  void Warn(ir::Warning warning) { warnings_.push_back(std::move(warning)); }
  std::vector<ir::Warning>& warnings() { return warnings_; }

 private:
  Result<ir::ValueId> ValueOf(const Draft& draft, const Operand& operand);
  Status AddDraft(const Draft& draft);
  Result<const ir::OpDef*> OpOf(const Draft& draft) const;
  // Sets the quantized types of the results of an op that only moves quantized elements.
  Status TypeQuantized(ir::NodeId id);
  Status InferTypes(ir::NodeId id);
  // Adds a Reinterpret of the unquantized integer value.
  Result<ir::ValueId> Reinterpreted(ir::ValueId value, const ir::Quant& quant);

  ir::Graph& graph_;
  ir::Inference inference_;
  OpFinder find_op_;
  bool own_ = false;
  std::unordered_set<std::string> read_;
  std::unordered_set<std::string> reserved_, reserved_nodes_, four_bit_, outputs_;
  std::vector<ir::Warning> warnings_;
  std::unordered_map<std::string, ir::ValueId> locals_;
  // The Reinterpret results and blocked copies for each unquantized integer value.
  std::unordered_map<ir::ValueId, std::vector<ir::ValueId>> reinterprets_;
  // Those that a DequantizeLinear reads: whether its result is a graph output.
  std::unordered_map<ir::ValueId, bool> dequantized_;
};

}  // namespace octavo::onnx

// Grows a graph node by node in topological order: types are inferred as nodes come, names that
// conversions make never meet one of the model's.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/ir/infer.h"
#include "core/onnx/draft.h"
#include "core/onnx/import.h"

namespace octavo::onnx {

class GraphBuilder {
 public:
  // `own`: Octavo wrote the model, so ".float" marks what an operator computes before rounding.
  GraphBuilder(ir::Graph& graph, OpFinder find_op, bool own)
      : graph_(graph), inference_(graph), find_op_(std::move(find_op)), own_(own) {}
  GraphBuilder(const GraphBuilder&) = delete;

  ir::Graph& graph() { return graph_; }
  const ir::Graph& graph() const { return graph_; }

  // Names that the model uses; no made name will be one of them.
  void Reserve(const std::string& name) { reserved_.insert(name); }
  void ReserveNode(const std::string& name) { reserved_nodes_.insert(name); }
  // `base` or `base_1`.. for a made value.
  std::string Fresh(const std::string& base);

  Status Add(const Conversion& conversion);
  // A node of Octavo's own domain; its result type is given, since it is its meaning.
  Result<ir::ValueId> AddOwn(std::string_view op, const std::string& node,
                             const std::string& result, ir::ValueId operand, ir::Type type);
  // The codes of `value` read with `quant`: itself if it is of that type, a constant of the same
  // bytes, or a Reinterpret of a plain integer.
  Result<ir::ValueId> AsQuantized(ir::ValueId value, const ir::Quant& quant,
                                  std::string_view reader);
  // Adds a node with quantized operands and a result of the given type.
  Result<ir::ValueId> AddQuantized(std::string_view op, const Draft& draft,
                                   std::vector<ir::ValueId> inputs, ir::AttrMap attributes,
                                   const ir::Type& type);

  // The elements of a draft's input: a constant's, or what follows from constants; null where a run
  // decides them.  Valid until the next node comes.
  const ir::Tensor* Elements(const Draft& draft, size_t input) const;

  // Constants whose 4-bit codes were widened to 8 bits.
  void NoteFourBit(const std::string& name) { four_bit_.insert(name); }
  bool IsFourBit(ir::ValueId value) const { return four_bit_.count(graph_.name(value)) > 0; }

  void Warn(ImportWarning warning) { warnings_.push_back(std::move(warning)); }
  std::vector<ImportWarning>& warnings() { return warnings_; }

  // Quantized constants and reinterpretations by the plain integer that they read.
  const std::unordered_map<ir::ValueId, ir::ValueId>& plain_of() const { return plain_of_; }

 private:
  Result<ir::ValueId> ValueOf(const Draft& draft, const Operand& operand);
  Status AddDraft(const Draft& draft);
  Result<const ir::OpDef*> OpOf(const Draft& draft) const;
  // Sets the quantized types of results of an op that moves codes.
  Status TypeCodes(ir::NodeId id);
  Status InferTypes(ir::NodeId id);

  ir::Graph& graph_;
  ir::Inference inference_;
  OpFinder find_op_;
  bool own_ = false;
  std::unordered_set<std::string> reserved_, reserved_nodes_, four_bit_;
  std::vector<ImportWarning> warnings_;
  std::unordered_map<std::string, ir::ValueId> locals_;
  std::unordered_map<ir::ValueId, ir::ValueId> plain_of_;
  std::unordered_map<ir::ValueId, std::vector<ir::ValueId>> readings_;
};

}  // namespace octavo::onnx

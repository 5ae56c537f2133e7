// Which operators can be folded, and what their quantized values are called.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/onnx/fold_qdq.h"

namespace octavo::onnx {

using PlainOf = std::unordered_map<ir::ValueId, ir::ValueId>;

class FoldRules {
 public:
  FoldRules(const ir::Graph& graph, const PlainOf& plain_of, const FoldOptions& options);

  bool IsQuantize(ir::NodeId id) const { return graph_.node(id).op == quantize_; }
  bool IsDequantize(ir::NodeId id) const { return graph_.node(id).op == dequantize_; }
  bool IsReinterpret(ir::NodeId id) const { return graph_.node(id).op == reinterpret_; }
  const ir::OpDef* quantize() const { return quantize_; }
  const ir::OpDef* rescale() const { return rescale_; }

  bool Folded(ir::NodeId id) const { return folded_[static_cast<size_t>(id.index)]; }
  // The codes behind a float: v = Dequantize(codes); none otherwise.
  ir::ValueId Codes(ir::ValueId v) const;
  // The type that all readers of a float quantize it to; null unless they all do, to one type.  A
  // clamp between counts as no reader: Quantize is monotone, so it may come before the clamp.
  const ir::Type* QuantizedTo(ir::ValueId v) const;
  // The Quantize that is a reader of a folded result; none where that is a clamp.
  ir::NodeId QuantizeOf(ir::ValueId v) const;
  // Whether a Dequantize's result has a reader that needs reals.
  bool NeedsReals(ir::ValueId v) const;
  // Whether a plain integer input is read as codes of one type only.
  ir::ValueId OnlyReading(ir::ValueId input) const;
  // s_x * s_w, as a bias of the node must have it; nullopt if its operands are not quantized.
  std::optional<ir::Quant> BiasQuant(ir::NodeId id) const;
  // A float constant that becomes codes at s_x * s_w: where Octavo's exporter said so, and in other
  // models where that moves no result by more than half a step and no code needs more than 31 bits.
  bool IsPendingBias(ir::NodeId id, size_t input) const;
  // Add(MatMul(Dequantize(x), Dequantize(w)), b) of more than two axes, w a matrix and b a vector
  // of its columns: the Gemm of x's rows, which takes the bias.  Both nodes count as folded.
  struct Rows {
    ir::NodeId product = {};
    ir::ValueId bias = {};
  };
  // Of the node Add; null for any other.
  const Rows* RowsOf(ir::NodeId id) const;
  // Whether a node's work is done where its only reader is written.
  bool IsPart(ir::NodeId id) const { return parts_.count(id) > 0; }

  // The name of a quantized value: what readers of the original value call it.
  std::string NameOf(ir::ValueId v) const;

 private:
  bool CanFold(ir::NodeId id) const;
  // The clamp that alone reads the value; none if there is another reader.
  ir::NodeId ClampOf(ir::ValueId v) const;
  // Whether a vector of `channels` reals can be the bias of what computes `result`.
  bool IsFineAsCodes(ir::ValueId result, int64_t channels, ir::ValueId bias,
                     const ir::Quant& quant) const;
  std::optional<Rows> FindRows(ir::NodeId id) const;
  bool InputFolds(ir::NodeId id, size_t input) const;
  bool KeepsTypeFolds(ir::NodeId id) const;
  const std::string& IntegerName(ir::ValueId v) const;

  const ir::Graph& graph_;
  const PlainOf& plain_of_;
  const FoldOptions& options_;
  const ir::OpDef *quantize_, *dequantize_, *reinterpret_, *rescale_;
  std::vector<bool> folded_;
  std::map<ir::NodeId, Rows> rows_;
  std::set<ir::NodeId> parts_;
};

}  // namespace octavo::onnx

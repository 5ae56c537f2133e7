// SPDX-License-Identifier: Apache-2.0
// Which ops of a graph in QDQ form can run on quantized operands, and the names of their values.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

// What import notes about the model (core/ir/qdq_notes.h).
struct QdqOrigin {
  bool own = false;  // Octavo wrote the model: "y.q" names the quantized tensor of a value y
  std::set<std::string> pending = {};  // float biases to be quantized at s_x * s_w
};

class QdqAnalysis {
 public:
  QdqAnalysis(const ir::Graph& graph, const QdqOrigin& origin);

  bool IsQuantize(ir::NodeId id) const { return graph_.node(id).op == quantize_; }
  bool IsDequantize(ir::NodeId id) const { return graph_.node(id).op == dequantize_; }
  bool IsReinterpret(ir::NodeId id) const { return graph_.node(id).op == reinterpret_; }
  const ir::OpDef* quantize() const { return quantize_; }
  const ir::OpDef* rescale() const { return rescale_; }

  // Whether the op becomes one on quantized operands.
  bool Folds(ir::NodeId id) const { return folds_[static_cast<size_t>(id.index)]; }
  // q where v = Dequantize(q); none otherwise.
  ir::ValueId Quantized(ir::ValueId v) const;
  // c where v = Reinterpret(c); none otherwise.
  ir::ValueId Plain(ir::ValueId v) const;
  // The type that every consumer of a float quantizes it to; null if one does not, or to another
  // type.  A clamp in between is skipped: rounding is monotone, so Quantize may precede the clamp.
  const ir::Type* QuantizedTo(ir::ValueId v) const;
  // The Quantize that consumes the result of an op that folds; none if a clamp does.
  ir::NodeId QuantizeOf(ir::ValueId v) const;
  // Whether a result of Dequantize has a consumer that stays float.
  bool NeedsFloat(ir::ValueId v) const;
  // The Reinterpret that is the only consumer of a plain integer input; none otherwise.
  ir::ValueId OnlyReinterpret(ir::ValueId input) const;

  // s_x * s_w of the node, per channel where w is; nullopt if its operands are not quantized.
  std::optional<ir::Quant> BiasQuant(ir::NodeId id) const;
  // Whether the rule quantize-bias applies to this input.
  bool IsFloatBias(ir::NodeId id, size_t input) const;

  // The match of matmul-to-gemm.  Both nodes count as nodes that fold.
  struct BatchedGemm {
    ir::NodeId product = {};  // the MatMul
    ir::ValueId bias = {};
  };
  // Of the Add; null for any other node.
  const BatchedGemm* GemmOf(ir::NodeId add) const;
  // Whether the node is the MatMul of such a match.
  bool IsPartOfGemm(ir::NodeId id) const { return parts_.count(id) > 0; }

  // The name of a quantized value: the one by which consumers of the original value know it.
  std::string NameOf(ir::ValueId v) const;

 private:
  bool CanFold(ir::NodeId id) const;
  bool InputFolds(ir::NodeId id, size_t input) const;
  bool SameScaleFolds(ir::NodeId id) const;
  // The clamp that is the value's only consumer; none otherwise.
  ir::NodeId ClampOf(ir::ValueId v) const;
  // Whether `bias` has one element for each of `channels`, and rounding it to `quant` moves
  // `result` by at most half of its scale.
  bool FitsAsBias(ir::ValueId result, int64_t channels, ir::ValueId bias,
                  const ir::Quant& quant) const;
  std::optional<BatchedGemm> MatchGemm(ir::NodeId id) const;

  const ir::Graph& graph_;
  const QdqOrigin& origin_;
  const ir::OpDef *quantize_, *dequantize_, *reinterpret_, *rescale_;
  std::vector<bool> folds_;
  std::map<ir::NodeId, BatchedGemm> gemms_;
  std::set<ir::NodeId> parts_;
};

}  // namespace octavo::passes

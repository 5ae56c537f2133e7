// SPDX-License-Identifier: Apache-2.0
// Determines which ops of a graph in QDQ form can run on quantized operands, and how their values
// are named.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

// Import's notes about the model (core/ir/qdq_notes.h).
struct QdqOrigin {
  bool own = false;  // Octavo wrote the model: "y.q" names the quantized tensor of a value y
  std::set<std::string> pending = {};       // float biases to be quantized at s_x * s_w
  std::set<std::string> float_biases = {};  // those that stay float until specialize-bias
  // Nodes that an earlier job kept in float, or that this one has to (FloatChoice).
  std::set<std::string> kept_float = {};
  std::set<std::string> float_result = {};  // products of quantized operands with a float result
  std::set<std::string> written_out = {};   // results of ops that export wrote out in smaller ones
};

class QdqAnalysis {
 public:
  QdqAnalysis(const ir::Graph& graph, const QdqOrigin& origin);

  bool IsQuantize(ir::NodeId id) const { return graph_.node(id).op == quantize_; }
  bool IsDequantize(ir::NodeId id) const { return graph_.node(id).op == dequantize_; }
  bool IsReinterpret(ir::NodeId id) const { return graph_.node(id).op == reinterpret_; }
  const ir::OpDef* quantize() const { return quantize_; }
  const ir::OpDef* rescale() const { return rescale_; }

  // Whether the node becomes an op on quantized operands.
  bool Folds(ir::NodeId id) const { return folds_[static_cast<size_t>(id.index)]; }
  // Whether such a node keeps its float result: a product that the origin lists.
  bool HasFloatResult(ir::NodeId id) const {
    return Folds(id) && MayHaveFloatResult(graph_.node(id));
  }
  // q if v = Dequantize(q); else invalid.
  ir::ValueId Quantized(ir::ValueId v) const;
  // c if v = Reinterpret(c); else invalid.
  ir::ValueId Plain(ir::ValueId v) const;
  // The type to which every consumer of a float value quantizes it; null if one does not quantize
  // it, or uses another type.  Looks through a clamp: rounding is monotone, so Quantize may precede
  // the clamp.
  const ir::Type* QuantizedTo(ir::ValueId v) const;
  // The Quantize that consumes the result of an op that folds; invalid if a clamp consumes it.
  ir::NodeId QuantizeOf(ir::ValueId v) const;
  // Whether a result of Dequantize has a consumer that stays float.
  bool NeedsFloat(ir::ValueId v) const;
  // The Reinterpret that is the only consumer of an unquantized integer input or constant; else
  // invalid.  The integers may be a graph output as well.
  ir::ValueId OnlyReinterpret(ir::ValueId plain) const;
  // Whether an integer constant is needed without a type, too.
  bool NeedsPlain(ir::ValueId plain) const;

  // The parameters of a bias of that shape of the node (core/ir/output_channels.h); nullopt if its
  // operands are not quantized.
  std::optional<ir::Quant> BiasQuant(ir::NodeId id, const ir::Shape& bias) const;
  // Whether a float is read as such although the rule quantize-bias applies to some consumer.
  bool HasFloatConsumers(ir::ValueId bias) const;
  // Whether the input is a float bias with which the op folds: by the rule quantize-bias, unless it
  // stays float until specialize-bias.
  bool IsFloatBias(ir::NodeId id, size_t input) const;
  bool StaysFloat(ir::ValueId bias) const {
    return origin_.float_biases.count(graph_.name(bias)) > 0;
  }

  // A match of matmul-to-gemm.  Both nodes count as nodes that fold.
  struct BatchedGemm {
    ir::NodeId product = {};  // the MatMul
    ir::ValueId bias = {};
  };
  // The match at the node `add`; null if there is none.
  const BatchedGemm* GemmOf(ir::NodeId add) const;
  // Whether the node is the MatMul of such a match.
  bool IsPartOfGemm(ir::NodeId id) const { return parts_.count(id) > 0; }

  // The name of a quantized value: the name that consumers of the original value use.
  std::string NameOf(ir::ValueId v) const;

 private:
  bool CanFold(ir::NodeId id) const;
  // Whether the node's result may stay float: the origin lists it, and nothing quantizes the
  // result.
  bool MayHaveFloatResult(const ir::Node& node) const;
  bool InputFolds(ir::NodeId id, size_t input) const;
  bool SameScaleFolds(ir::NodeId id) const;
  // The clamp that is the value's only consumer; else invalid.
  ir::NodeId ClampOf(ir::ValueId v) const;
  // Fills clamped_, each chain once: a hostile model may have one of many thousands.
  void FollowClamps();
  // Whether `bias` has one element for each of `channels`, and rounding it to `quant` changes
  // `result` by at most half of the result's scale.
  bool FitsAsBias(ir::ValueId result, int64_t channels, ir::ValueId bias,
                  const ir::Quant& quant) const;
  std::optional<BatchedGemm> MatchGemm(ir::NodeId id) const;

  const ir::Graph& graph_;
  const QdqOrigin& origin_;
  const ir::OpDef *quantize_, *dequantize_, *reinterpret_, *rescale_;
  std::vector<bool> folds_;
  std::vector<ir::ValueId> clamped_;  // by value: the result of the last clamp of those behind it
  std::map<ir::NodeId, BatchedGemm> gemms_;
  std::set<ir::NodeId> parts_;
};

}  // namespace octavo::passes

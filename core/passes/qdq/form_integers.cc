// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/form_integers.h"

#include <algorithm>

#include "core/ir/qdq_notes.h"
#include "core/ops/op_table.h"
#include "core/passes/qdq/qdq_analysis.h"
#include "core/passes/qdq/qdq_rules.h"
#include "core/passes/rescale/output_name.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Role;
using ir::Type;
using ir::ValueId;

size_t Index(NodeId id) { return static_cast<size_t>(id.index); }

// An op as it will be: the quantized operands, by input (none: as it is), and the results' types.
struct IntegerForm {
  NodeId node = {};
  bool same_scale = false;
  std::vector<ValueId> operands = {};
  std::optional<size_t> bias_input = {};  // of a float bias, which gets the quantization `bias`
  ir::Quant bias = {};
  std::vector<std::optional<Type>> results = {};
};

class Finder {
 public:
  Finder(const Graph& graph, const target::Target& target, const FloatChoice& choice,
         QdqOrigin origin)
      : graph_(graph),
        target_(target),
        choice_(choice),
        origin_(std::move(origin)),
        qdq_(graph, origin_),
        integer_(graph.value_bound(), false),
        clamps_fold_(graph.node_bound(), false) {
    std::vector<NodeId> order;
    for (const NodeId id : graph.nodes()) order.push_back(id);
    std::reverse(order.begin(), order.end());
    for (const NodeId id : order) clamps_fold_[Index(id)] = ClampsFold(id);
  }

  // All ops that fold, in order.
  std::vector<IntegerForm> Run() {
    std::vector<IntegerForm> forms;
    for (const NodeId id : graph_.nodes()) {
      if (!Folds(id) || !clamps_fold_[Index(id)]) continue;
      std::optional<IntegerForm> form = FormOf(id);
      if (!form) continue;
      const std::vector<ValueId>& results = graph_.node(id).results;
      for (size_t k = 0; k < results.size(); ++k) {
        integer_[results[k].index] = form->results[k].has_value();
      }
      forms.push_back(*std::move(form));
    }
    return forms;
  }

 private:
  // A Gemm of rows (fold-qdq/matmul-to-gemm) is made at import only.
  bool Folds(NodeId id) const {
    return qdq_.Folds(id) && !qdq_.IsPartOfGemm(id) && qdq_.GemmOf(id) == nullptr &&
           !choice_.StaysFloat(graph_, graph_.node(id)) &&
           target_.QuantOf(graph_, graph_.node(id)).kind != ir::QuantRule::Kind::kFloatOnly;
  }

  // Whether the clamps between the op and the Quantize that it folds with do so as well; those
  // after the op are known.
  bool ClampsFold(NodeId id) const {
    for (const ValueId result : graph_.node(id).results) {
      for (const ir::Use& use : graph_.value(result).uses) {
        if (graph_.type(result).dtype != ir::DType::kF32) continue;
        if (qdq_.IsQuantize(use.node)) continue;
        if (!Folds(use.node) || !clamps_fold_[Index(use.node)]) return false;
      }
    }
    return true;
  }

  std::optional<IntegerForm> FormOf(NodeId id) const {
    const Node& node = graph_.node(id);
    const auto kind = node.op->QuantOf(graph_, node).kind;
    IntegerForm form{.node = id, .same_scale = kind == ir::QuantRule::Kind::kSameScale};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      const bool real = input && node.op->RoleOf(i) != Role::kParameter &&
                        graph_.type(input).dtype == ir::DType::kF32;
      form.operands.push_back(real ? qdq_.Quantized(input) : ValueId{});
      if (!real || form.operands.back() || integer_[input.index]) continue;
      if (!qdq_.IsFloatBias(id, i)) return std::nullopt;
      form.bias_input = i;
      form.bias = *qdq_.BiasQuant(id, graph_.type(input).shape);
    }
    for (const ValueId result : node.results) {
      const Type* to = qdq_.QuantizedTo(result);
      const bool real = to != nullptr && graph_.type(result).dtype == ir::DType::kF32;
      form.results.push_back(real ? std::optional(*to) : std::nullopt);
    }
    return form;
  }

  const Graph& graph_;
  const target::Target& target_;
  const FloatChoice& choice_;
  const QdqOrigin origin_;
  const QdqAnalysis qdq_;
  std::vector<bool> integer_;      // by value: a form before gives it
  std::vector<bool> clamps_fold_;  // by node
};

class Former {
 public:
  Former(Graph& graph, Context& context) : graph_(graph), context_(context) {}

  void Apply(const IntegerForm& form) {
    const NodeId id = form.node;
    context_.Applied(form.same_scale ? kSameScaleOp : kIntegerOp, graph_.node(id).name,
                     {graph_.name(graph_.node(id).result())});
    for (size_t i = 0; i < form.operands.size(); ++i) {
      if (!form.operands[i]) continue;
      const NodeId dequantize = graph_.value(graph_.node(id).inputs[i]).producer;
      const bool data = graph_.node(id).op->RoleOf(i) == Role::kData;
      graph_.SetInput(id, i,
                      form.same_scale && data
                          ? Rescaled(id, form.operands[i], *form.results.front())
                          : form.operands[i]);
      if (graph_.CountUses(graph_.node(dequantize).result()) == 0) graph_.Erase(dequantize);
    }
    if (form.bias_input) QuantizeBias(id, *form.bias_input, form.bias);
    const std::vector<ValueId> results = graph_.node(id).results;
    for (size_t k = 0; k < results.size(); ++k) {
      if (!form.results[k]) continue;
      graph_.SetType(results[k], *form.results[k]);
      DropQuantizes(results[k]);
    }
  }

 private:
  // What a same-scale op reads for its result to be `to`.  Types that are not per-tensor fit as
  // they are: SameScaleFolds has seen to it.
  ValueId Rescaled(NodeId id, ValueId x, Type to) {
    const Type& from = graph_.type(x);
    if (!from.quant->per_tensor() || from.SameQuantization(to)) return x;
    to.shape = from.shape;
    to.range.reset();
    const NodeId rescale = graph_.InsertBefore(
        id, {.op = ops::FindOp("Rescale", "octavo"),
             .inputs = {x},
             .results = {{graph_.UniqueName(graph_.name(x) + ".r"), std::move(to)}}});
    return graph_.node(rescale).result();
  }

  void QuantizeBias(NodeId id, size_t input, const ir::Quant& quant) {
    const ValueId bias = graph_.node(id).inputs[input];
    const ir::Value constant = graph_.value(bias);
    const Type type{ir::DType::kI32, constant.type.shape, quant, {}};
    const ir::OpDef* quantize = ops::FindOp("Quantize", "octavo");
    context_.Applied(kQuantizeBias, graph_.node(id).name, {constant.name});
    if (graph_.CountUses(bias) > 1) {
      const std::string name = graph_.UniqueName(constant.name);
      const NodeId own =
          graph_.InsertBefore(id, {.op = quantize, .inputs = {bias}, .results = {{name, type}}});
      graph_.SetInput(id, input, graph_.node(own).result());
      return;
    }
    const ValueId real = graph_.AddConstant(graph_.UniqueName(constant.name + ".float"),
                                            constant.constant, constant.type);
    graph_.DefineAsNode(bias, {.op = quantize, .inputs = {real}});
    graph_.SetType(bias, type);
  }

  // The Quantizes that read the result give what it is now.
  void DropQuantizes(ValueId result) {
    const std::vector<ir::Use> uses = graph_.value(result).uses;
    std::vector<ValueId> outputs;
    for (const ir::Use& use : uses) {
      if (!IsOwn(graph_.node(use.node), "Quantize")) continue;  // a clamp that folds
      const ValueId quantized = graph_.node(use.node).result();
      if (graph_.IsOutput(quantized)) {
        graph_.Redefine(use.node, ops::FindOp("Rescale", "octavo"), {result}, {});
        outputs.push_back(quantized);
        continue;
      }
      graph_.Forward(quantized, result);
      graph_.Erase(use.node);
    }
    if (!outputs.empty()) ComputeAsOutput(graph_, outputs.front(), result);
  }

  Graph& graph_;
  Context& context_;
};

}  // namespace

constexpr std::array<Rule, 3> kFormRules = {kIntegerOp, kSameScaleOp, kQuantizeBias};

void FormIntegers(Graph& graph, const std::set<std::string>& kept_float, const FloatChoice& choice,
                  Context& context) {
  const auto note = graph.metadata.find(ir::kQdqFloatsKey);
  if (note == graph.metadata.end()) return;
  Former former(graph, context);
  const QdqOrigin origin{.own = note->second == ir::kQdqWriterOctavo, .kept_float = kept_float};
  const target::Target& target = context.settings().target;
  for (const IntegerForm& form : Finder(graph, target, choice, origin).Run()) {
    former.Apply(form);
  }
}

}  // namespace octavo::passes

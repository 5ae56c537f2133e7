// SPDX-License-Identifier: Apache-2.0
// Assigns the plan's types to values (quantize_plan.h).  Inserts Quantize and Dequantize between
// float and quantized nodes, and a Rescale where an op requires another type than its operand has.
// Weights become a Quantize of their float data and stay pending until merge-constants; biases stay
// float until specialize-bias.  A product whose result is a graph output may have a float result.
#include <vector>

#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/passes/quantize/block_weights.h"
#include "core/passes/quantize/float_comparisons.h"
#include "core/passes/quantize/float_outputs.h"
#include "core/passes/quantize/quantize_plan.h"
#include "core/passes/quantize/squeeze_excite.h"
#include "core/passes/quantize/unknown_names.h"
#include "core/passes/quantize/weight_type.h"
#include "core/passes/quantize/wide_values.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Role;
using ir::ValueId;

constexpr Rule kQuantize = {
    .id = "quantize/quantize",
    .pattern = "Op(x, w)",
    .replacement = "Op(Quantize(x), Quantize(w)) : t",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: Op has an integer form on the target and the profile "
        "has its ranges",
};
constexpr Rule kSqueezeExcite = {
    .id = "quantize/squeeze-excite",
    .pattern = "x * gate(product(pool(x)))",
    .replacement = "the same ops in integers",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: every node from the pool to the Mul is quantized; if "
        "one is kept in float or has no range, all stay float",
};
constexpr Rule kWeightsOnly = {
    .id = "quantize/weights-only",
    .pattern = "Op(x, w)",
    .replacement = "Op(x, Dequantize(Quantize(w)))",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: --weights-only names Op, which stays float; w is "
        "constant, or the constant table of a Gather, with a scale per row; the target has float "
        "ops. With --weights i4, the matrix of a MatMul or Gemm has a scale for each --block "
        "weights of an output, which divides their number. Applies to a Gather without the option "
        "where only float ops read its result, the indices are computed, and a row has 16 elements "
        "or more",
};
constexpr Rule kRules[] = {kQuantize,    kSqueezeExcite,   kWeightsOnly,
                           kFloatOutput, kFloatComparison, kInt16};

// A map from value ids to T; a missing entry is a default-constructed T.
template <class T>
class ByValue {
 public:
  const T& Of(ValueId id) const {
    static const T nothing = {};
    const auto index = static_cast<size_t>(id.index);
    return index < entries_.size() ? entries_[index] : nothing;
  }
  T& operator[](ValueId id) {
    const auto index = static_cast<size_t>(id.index);
    if (index >= entries_.size()) entries_.resize(index + 1);
    return entries_[index];
  }

 private:
  std::vector<T> entries_;
};

class Quantizer {
 public:
  Quantizer(Graph& graph, Context& context, const QuantizePlan& plan, const FloatChoice& choice)
      : graph_(graph), context_(context), plan_(plan), choice_(choice) {}

  void Run() {
    std::vector<NodeId> order;
    for (const NodeId id : graph_.nodes()) order.push_back(id);
    for (const NodeId id : order) {
      if (plan_.IsInteger(id)) {
        MakeInteger(id);
      } else {
        FeedFloat(id);
        if (plan_.IsWeightsOnly(id)) StoreWeights(id);
      }
    }
  }

 private:
  static const ir::OpDef* Op(std::string_view name) { return ops::FindOp(name, "octavo"); }

  ir::Type WithShape(const ir::Type& type, ValueId id) const {
    ir::Type copy = type;
    copy.shape = graph_.type(id).shape;
    return copy;
  }

  void MakeInteger(NodeId id) {
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      if (IsRealOperand(graph_, graph_.node(id), i)) QuantizeOperand(id, i);
    }
    const std::vector<ValueId> results = graph_.node(id).results;
    std::vector<std::string> names;
    for (const ValueId result : results) {
      if (graph_.type(result).dtype != ir::DType::kF32) continue;
      names.push_back(graph_.name(result));
      if (plan_.HasFloatResult(id)) continue;
      const ir::Type& type = *plan_.types[result.index];
      if (graph_.IsOutput(result)) {
        const ValueId inner = graph_.Interpose(
            result, graph_.UniqueName(graph_.name(result) + ".q"), type, {.op = Op("Dequantize")});
        quantized_[result] = inner;
        floats_[inner] = result;
      } else {
        graph_.SetType(result, type);
        quantized_[result] = result;
      }
    }
    context_.Applied(kQuantize, graph_.node(id).name, std::move(names));
  }

  void QuantizeOperand(NodeId id, size_t input) {
    const Node& node = graph_.node(id);  // valid until nodes are added
    const ValueId value = node.inputs[input], result = node.result();
    const Role role = node.op->RoleOf(input);
    if (role == Role::kBias) return;
    const target::Target& target = context_.settings().target;
    const bool keeps = target.QuantOf(graph_, node).kind == ir::QuantRule::Kind::kSameScale;
    if (graph_.IsConstant(value) || weights_.Of(value)) {
      ir::Type type;
      const ir::Tensor& payload = PayloadOf(value);
      if (role == Role::kWeight) {
        type = TypeOfWeight(node, input, payload);
      } else if (keeps) {
        type = WithShape(*plan_.types[result.index], value);
      } else {
        const auto& computed = plan_.types[result.index];
        type = ConstantType(payload, computed ? profile::SchemeOf(target, computed->dtype)
                                              : profile::SchemeOf(target));
      }
      graph_.SetInput(id, input, QuantizedConstant(id, value, type));
      return;
    }
    ValueId quantized = QuantizedBefore(id, value);
    if (keeps) {
      const ir::Type wanted = WithShape(*plan_.types[result.index], value);
      if (wanted != graph_.type(quantized)) quantized = Rescaled(id, quantized, wanted);
    }
    graph_.SetInput(id, input, quantized);
  }

  ir::Type TypeOfWeight(const Node& node, size_t input, const ir::Tensor& payload) const {
    return WeightType(payload, ScaleAxis(graph_, node, input), node.op->name,
                      context_.settings().target);
  }

  // Quantizes only the node's weights; the node still computes in float, on the dequantized
  // weights.
  void StoreWeights(NodeId id) {
    std::vector<std::string> names;
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId value = graph_.node(id).inputs[i];
      if (!value || !IsWeight(graph_.node(id), i) ||
          !(weights_.Of(value) || IsConstantWeight(graph_, graph_.node(id), i))) {
        continue;
      }
      const ir::Type type =
          StoredWeightType(graph_, graph_.node(id), i, PayloadOf(value), context_);
      const ValueId quantized = QuantizedConstant(id, value, type);
      graph_.SetInput(id, i, FloatBefore(id, quantized));
      names.push_back(graph_.name(value));
    }
    context_.Applied(kWeightsOnly, graph_.node(id).name, std::move(names));
  }

  const ir::Tensor& PayloadOf(ValueId value) const {
    const ValueId payload = weights_.Of(value);
    return graph_.value(payload ? payload : value).constant->tensor;
  }

  // Whether a consumer of a constant uses it quantized.
  bool ReadsQuantized(const ir::Use& use) const {
    const Node& consumer = graph_.node(use.node);
    const Role role = consumer.op->RoleOf(use.input);
    if (plan_.IsWeightsOnly(use.node)) return IsWeight(consumer, use.input);
    return plan_.IsInteger(use.node) && IsRealOperand(graph_, consumer, use.input) &&
           role != Role::kBias;
  }

  // The constant `value` quantized to `type` for `consumer`: a Quantize of its float data.  The
  // first type keeps the name, unless the constant is a graph output, which stays float; the
  // others are named after their integers.  (A number would meet names that a model in ONNX form
  // has lost with their nodes.)
  ValueId QuantizedConstant(NodeId consumer, ValueId value, const ir::Type& type) {
    auto& known = constants_[value];
    for (const ValueId sibling : known) {
      if (graph_.type(sibling) == type) return sibling;
    }
    ++context_.findings().ranges_from_payload;
    if (known.empty() && graph_.IsOutput(value)) {
      const std::string name = graph_.UniqueName(graph_.name(value) + ".q");
      first_[value] = graph_.InsertBefore(
          consumer, {.op = Op("Quantize"), .inputs = {value}, .results = {{name, type}}});
      weights_[value] = value;
      known.push_back(graph_.node(first_[value]).result());
      return known.back();
    }
    if (known.empty()) {
      const ir::Value& constant = graph_.value(value);
      const ValueId payload = graph_.AddConstant(graph_.UniqueName(constant.name + ".float"),
                                                 constant.constant, constant.type);
      weights_[value] = payload;
      const NodeId node = graph_.DefineAsNode(value, {.op = Op("Quantize"), .inputs = {payload}});
      graph_.SetType(value, type);
      // Float consumers keep using the float data.
      const std::vector<ir::Use> uses = graph_.value(value).uses;
      for (const ir::Use& use : uses) {
        if (!ReadsQuantized(use)) graph_.SetInput(use.node, use.input, payload);
      }
      known.push_back(value);
      first_[value] = node;
      return value;
    }
    const std::string name =
        graph_.UniqueName(fmt::format("{}.{}", graph_.name(value), ir::Name(type.dtype)));
    const NodeId node = graph_.InsertAfter(
        first_[value],
        {.op = Op("Quantize"), .inputs = {weights_[value]}, .results = {{name, type}}});
    known.push_back(graph_.node(node).result());
    return known.back();
  }

  // The quantized form of a value; adds a Quantize before `consumer` unless a quantized form
  // already exists.
  ValueId QuantizedBefore(NodeId consumer, ValueId value) {
    if (const ValueId known = quantized_.Of(value)) return known;
    const std::string name = graph_.UniqueName(graph_.name(value) + ".q");
    const ir::Type type = WithShape(*plan_.types[value.index], value);
    const NodeId node = graph_.InsertBefore(
        consumer, {.op = Op("Quantize"), .inputs = {value}, .results = {{name, type}}});
    return quantized_[value] = graph_.node(node).result();
  }

  ValueId Rescaled(NodeId consumer, ValueId quantized, const ir::Type& type) {
    auto& known = rescaled_[quantized];
    for (const ValueId rescaled : known) {
      if (graph_.type(rescaled) == type) return rescaled;
    }
    std::string base = graph_.name(quantized);
    if (base.ends_with(".q")) base.resize(base.size() - 2);
    const std::string name = graph_.UniqueName(base + ".r");
    const NodeId node = graph_.InsertBefore(
        consumer, {.op = Op("Rescale"), .inputs = {quantized}, .results = {{name, type}}});
    known.push_back(graph_.node(node).result());
    return known.back();
  }

  // Gives a float node float operands; if quantized nodes consume its result, the quantized form
  // takes over the result's name, unless the node is chosen: its value keeps its name.
  void FeedFloat(NodeId id) {
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId input = graph_.node(id).inputs[i];
      if (!input || !graph_.type(input).quantized()) continue;
      if (plan_.types.size() <= static_cast<size_t>(input.index) || !quantized_.Of(input)) continue;
      graph_.SetInput(id, i, FloatBefore(id, input));
    }
    if (choice_.StaysFloat(graph_, graph_.node(id))) return;
    const std::vector<ValueId> results = graph_.node(id).results;
    for (const ValueId result : results) {
      if (graph_.type(result).dtype != ir::DType::kF32 || graph_.IsOutput(result)) continue;
      std::vector<ir::Use> float_uses;
      bool integer_use = false;
      for (const ir::Use& use : graph_.value(result).uses) {
        const bool integer =
            plan_.IsInteger(use.node) && IsRealOperand(graph_, graph_.node(use.node), use.input);
        integer_use |= integer;
        if (!integer) float_uses.push_back(use);
      }
      if (!integer_use) continue;
      const ir::Type float_type = graph_.type(result);
      const ValueId inner =
          graph_.Interpose(result, graph_.UniqueName(graph_.name(result) + ".float"), float_type,
                           {.op = Op("Quantize")});
      graph_.SetType(result, *plan_.types[result.index]);
      quantized_[result] = result;
      for (const ir::Use& use : float_uses) graph_.SetInput(use.node, use.input, inner);
    }
  }

  ValueId FloatBefore(NodeId consumer, ValueId quantized) {
    if (const ValueId known = floats_.Of(quantized)) return known;
    const std::string name = graph_.UniqueName(graph_.name(quantized) + ".dq");
    const ir::Type type{ir::DType::kF32, graph_.type(quantized).shape, {}, {}};
    const NodeId node = graph_.InsertBefore(
        consumer, {.op = Op("Dequantize"), .inputs = {quantized}, .results = {{name, type}}});
    return floats_[quantized] = graph_.node(node).result();
  }

  Graph& graph_;
  Context& context_;
  const QuantizePlan& plan_;
  const FloatChoice& choice_;
  ByValue<ValueId> quantized_, floats_;  // by float value, and the inverse
  ByValue<ValueId> weights_;             // the float data of a quantized constant
  ByValue<NodeId> first_;
  ByValue<std::vector<ValueId>> constants_, rescaled_;
};

// Records each block that runs in integers in the ledger, with its values from the pool on.
void RecordBlocks(const Graph& graph, const QuantizePlan& plan,
                  const std::vector<SqueezeExciteBlock>& blocks, Context& context) {
  for (const SqueezeExciteBlock& block : blocks) {
    std::vector<std::string> values;
    bool integer = plan.IsInteger(block.product);
    for (const NodeId id : block.inner) {
      integer &= plan.IsInteger(id);
      values.push_back(graph.name(graph.node(id).result()));
    }
    if (!integer) continue;
    values.push_back(graph.name(graph.node(block.product).result()));
    context.Applied(kSqueezeExcite, graph.node(block.product).name, std::move(values));
  }
}

bool HasQuantizedValues(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    for (const ValueId result : graph.node(id).results) {
      if (graph.type(result).quantized()) return true;
    }
  }
  return false;
}

// A target without float support cannot run the remaining float nodes.
Status RefuseFloats(const Graph& graph, Context& context) {
  const Node* first = nullptr;
  int64_t others = -1;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!IsFloatNode(graph, node)) continue;
    if (first == nullptr) first = &node;
    ++others;
  }
  if (first == nullptr) return {};
  const auto& reasons = context.findings().float_reasons;
  const auto reason = reasons.find(first->name);
  return Fail(Code::kUnimplemented, "{} '{}' stays float, but target {} is fully quantized: {}{}",
              first->op->name, first->name, context.settings().target.name,
              reason == reasons.end() ? "the model computes it in float" : reason->second,
              others > 0 ? fmt::format(" (and {} more)", others) : "")
      .Node(first->name)
      .Reason("FLOAT_NODE");
}

Status Run(Graph& graph, Context& context) {
  const Settings& settings = context.settings();
  OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, settings));
  if (!settings.options.no_quantize && settings.profile != nullptr) {
    WarnOfUnknown(settings.options.weights_only, "weights-only", graph, context);
    OCTAVO_TRY(const QuantizePlan plan, PlanQuantization(graph, choice, context));
    RecordBlocks(graph, plan, SqueezeExciteBlocksOf(graph), context);
    Quantizer(graph, context, plan, choice).Run();
    for (const auto& [id, reason] : plan.reasons) context.KeepFloat(graph.node(id).name, reason);
    choice.Note(graph, context);
  } else if (!HasQuantizedValues(graph)) {
    return {};  // a float model that is only prepared, not quantized
  } else {
    choice.Note(graph, context);
  }
  return settings.target.fully_quantized ? RefuseFloats(graph, context) : Status{};
}

}  // namespace

const Pass kQuantizePass = {
    .name = "quantize",
    .phase = Phase::kQuantize,
    .postcondition = "every node that the target and the profile allow is quantized",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes

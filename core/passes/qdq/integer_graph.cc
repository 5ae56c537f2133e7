// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/integer_graph.h"

#include <set>

#include "core/ir/qdq_notes.h"
#include "core/ops/op_table.h"
#include "core/passes/qdq/qdq_rules.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::Role;
using ir::ValueId;

class Builder {
 public:
  Builder(const ir::Graph& graph, const QdqOrigin& origin, Context& context)
      : from_(graph),
        own_(origin.own),
        qdq_(graph, origin),
        map_(graph.value_bound()),
        context_(context) {
    for (const NodeId id : graph.nodes()) {
      if (!IsTypedConstant(id)) node_names_.insert(graph.node(id).name);
    }
  }

  Result<ir::Graph> Run() {
    to_.opsets = from_.opsets;
    to_.graph_name = from_.graph_name;
    to_.metadata = from_.metadata;
    for (const ValueId input : from_.inputs()) AddInput(input);
    for (const NodeId id : from_.nodes()) OCTAVO_CHECK(Emit(id));
    for (const ValueId output : from_.outputs()) {
      OCTAVO_TRY(const ValueId value, Get(output));
      to_.AddOutput(value);
    }
    OCTAVO_CHECK(AddAliases());
    return std::move(to_);
  }

 private:
  bool IsTypedConstant(NodeId id) const {
    return qdq_.IsReinterpret(id) && from_.IsConstant(from_.node(id).input(0));
  }

  ValueId& Map(ValueId v) { return map_[static_cast<size_t>(v.index)]; }

  // A name that neither graph uses.
  std::string Fresh(const std::string& base) const {
    std::string name = base;
    for (int i = 1; from_.Find(name) || to_.Knows(name); ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }
  // A node name that neither graph uses.
  std::string FreshNode(const std::string& base) const {
    std::string name = to_.UniqueNodeName(base);
    while (node_names_.count(name)) name = to_.UniqueNodeName(name + "_1");
    return name;
  }
  std::string Claim(const std::string& name) const { return to_.Find(name) ? Fresh(name) : name; }

  void AddInput(ValueId input) {
    const ValueId typed = qdq_.OnlyReinterpret(input);
    Map(input) = to_.AddInput(from_.name(input), from_.type(typed ? typed : input));
    if (!typed) return;
    Map(typed) = Map(input);
    context_.Applied(kTypedConstant, Producer(typed).name, {from_.name(input)});
  }

  const ir::Node& Producer(ValueId v) const { return *from_.Producer(v); }

  // The new graph's value for `v`.  Adds a constant when a node first needs it.
  Result<ValueId> Get(ValueId v) {
    if (!v || Map(v)) return v ? Map(v) : v;
    // A quantized constant that is a graph output.
    if (const ValueId typed = qdq_.OnlyReinterpret(v)) return Get(typed);
    const ValueId plain = qdq_.Plain(v);
    const ir::Value& value = from_.value(plain ? plain : v);
    if (!value.constant) {
      return Fail(Code::kInternal, "fold-qdq lost the value '{}'", from_.name(v));
    }
    std::string name = from_.type(v).quantized() ? Claim(qdq_.NameOf(v)) : value.name;
    if (plain) {
      // The unquantized integer constant has other consumers and keeps its name.
      if (name == value.name && qdq_.NeedsPlain(plain)) name = Fresh(name + ".codes");
      context_.Applied(kTypedConstant, Producer(v).name, {name});
    }
    return Map(v) = to_.AddConstant(name, value.constant, from_.type(v));
  }

  Result<ValueId> Own(const ir::OpDef* op, const std::string& node, ValueId operand,
                      const std::string& name, const ir::Type& type,
                      const std::vector<std::string>& origin) {
    const NodeId id = to_.AddNode({.name = node.empty() ? FreshNode(name) : node,
                                   .op = op,
                                   .inputs = {operand},
                                   .results = {{name, type}},
                                   .origin = origin});
    return to_.node(id).result();
  }

  Status Emit(NodeId id) {
    const ir::Node& node = from_.node(id);
    if (qdq_.IsQuantize(id)) return EmitQuantize(id);
    if (qdq_.IsDequantize(id)) return EmitDequantize(id);
    if (qdq_.IsReinterpret(id) && (Map(node.result()) || IsTypedConstant(id))) return {};
    if (qdq_.IsPartOfGemm(id)) return {};
    if (const QdqAnalysis::BatchedGemm* gemm = qdq_.GemmOf(id)) return EmitGemm(id, *gemm);
    if (qdq_.Folds(id)) return EmitFolded(id);
    return Copy(id);
  }

  Status Copy(NodeId id) {
    const ir::Node& node = from_.node(id);
    ir::Graph::Definition definition{
        .name = node.name, .op = node.op, .attributes = node.attributes, .origin = node.origin};
    for (const ValueId input : node.inputs) {
      OCTAVO_TRY(const ValueId mapped, Get(input));
      definition.inputs.push_back(mapped);
    }
    for (const ValueId result : node.results) {
      const bool quantized = from_.type(result).quantized();
      definition.results.emplace_back(quantized ? Claim(qdq_.NameOf(result)) : from_.name(result),
                                      from_.type(result));
    }
    const NodeId copy = to_.AddNode(std::move(definition));
    for (size_t i = 0; i < node.results.size(); ++i) {
      Map(node.results[i]) = to_.node(copy).results[i];
    }
    return {};
  }

  Status EmitQuantize(NodeId id) {
    const ir::Node& node = from_.node(id);
    const ValueId real = node.input(0), quantized = node.result();
    const NodeId producer = from_.value(real).producer;
    if (producer && qdq_.Folds(producer)) {
      Map(quantized) = Map(real);
      // If a second quantized tensor of the same value is a graph output, it must remain a separate
      // value.
      if (!from_.IsOutput(quantized) || to_.name(Map(quantized)) == from_.name(quantized)) {
        return {};
      }
      OCTAVO_TRY(Map(quantized), Own(qdq_.rescale(), node.name, Map(real), from_.name(quantized),
                                     from_.type(quantized), node.origin));
      return {};
    }
    const ValueId source = qdq_.Quantized(real);
    if (!source) return Copy(id);
    OCTAVO_TRY(const ValueId mapped, Get(source));
    if (from_.type(source) == from_.type(quantized) && !from_.IsOutput(quantized)) {
      Map(quantized) = mapped;
      context_.Applied(kDropPair, node.name, {from_.name(quantized)});
      return {};
    }
    if (!from_.type(source).quant->per_tensor() || !from_.type(quantized).quant->per_tensor()) {
      OCTAVO_CHECK(Dequantized(real));
      return Copy(id);
    }
    OCTAVO_TRY(Map(quantized), Own(qdq_.rescale(), node.name, mapped, Claim(qdq_.NameOf(quantized)),
                                   from_.type(quantized), node.origin));
    context_.Applied(kPairToRescale, node.name, {to_.name(Map(quantized))});
    return {};
  }

  Status EmitDequantize(NodeId id) {
    const ValueId real = from_.node(id).result();
    return qdq_.NeedsFloat(real) ? Dequantized(real) : Status();
  }

  // Adds the Dequantize whose result is `real`, unless it already exists.
  Status Dequantized(ValueId real) {
    if (Map(real)) return {};
    const NodeId id = from_.value(real).producer;
    const ir::Node& node = from_.node(id);
    OCTAVO_TRY(const ValueId quantized, Get(node.input(0)));
    const std::string& name = from_.name(real);
    OCTAVO_TRY(Map(real),
               Own(node.op, node.name, quantized, to_.Find(name) ? Fresh(name + ".dq") : name,
                   from_.type(real), node.origin));
    return {};
  }

  // ---------------------------------------------------------------- ops that fold

  // The name of the result of an op that folds: the name of its quantized tensor; if a clamp
  // consumes the result, its name in the model.
  std::string NameOfResult(ValueId result) const {
    const NodeId quantize = from_.value(result).uses.empty() ? NodeId{} : qdq_.QuantizeOf(result);
    return quantize ? qdq_.NameOf(from_.node(quantize).result()) : from_.name(result);
  }

  Result<ValueId> Rescaled(ValueId value, const ir::Type& like) {
    ir::Type type = to_.type(value);
    if (type.dtype == like.dtype && type.quant == like.quant) return value;
    type.dtype = like.dtype;
    type.quant = like.quant;
    for (const auto& [source, rescaled] : rescaled_) {
      if (source == value && to_.type(rescaled) == type) return rescaled;
    }
    OCTAVO_TRY(const ValueId result,
               Own(qdq_.rescale(), "", value, Fresh(to_.name(value) + ".r"), type, {}));
    rescaled_.emplace_back(value, result);
    return result;
  }

  // The bias of the product `id`, quantized at s_x * s_w; `node` is the name for the ledger.
  Result<ValueId> QuantizedBias(NodeId id, ValueId bias, const std::string& node) {
    const ir::Value& value = from_.value(bias);
    const ir::Shape shape = {value.type.elements()};
    const ir::Type type{ir::DType::kI32, shape, qdq_.BiasQuant(id, shape), {}};
    // Float consumers keep reading the constant under its own name.
    const std::string name = qdq_.HasFloatConsumers(bias) ? Fresh(value.name) : Claim(value.name);
    const ValueId real =
        to_.AddConstant(Fresh(value.name + ".float"), value.constant->tensor.Reshaped(type.shape));
    context_.Applied(kQuantizeBias, node, {value.name});
    return Own(qdq_.quantize(), "", real, name, type, {});
  }

  Status EmitFolded(NodeId id) {
    const ir::Node& node = from_.node(id);
    const bool same_scale = node.op->QuantOf(from_, node).kind == ir::QuantRule::Kind::kSameScale;
    const bool is_float = qdq_.HasFloatResult(id);
    context_.Applied(is_float     ? kFloatResult
                     : same_scale ? kSameScaleOp
                                  : kIntegerOp,
                     node.name,
                     {is_float ? from_.name(node.result()) : NameOfResult(node.result())});
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool real = node.inputs[i] && node.op->RoleOf(i) != Role::kParameter;
      const ValueId quantized = real ? qdq_.Quantized(node.inputs[i]) : ValueId{};
      if (real && !quantized && qdq_.IsFloatBias(id, i) && !qdq_.StaysFloat(node.inputs[i])) {
        OCTAVO_TRY(const ValueId bias, QuantizedBias(id, node.inputs[i], node.name));
        inputs.push_back(bias);
        continue;
      }
      OCTAVO_TRY(const ValueId mapped, Get(quantized ? quantized : node.inputs[i]));
      inputs.push_back(mapped);
    }
    if (same_scale) return EmitSameScale(id, std::move(inputs));
    std::vector<ir::Type> types;
    for (const ValueId result : node.results) types.push_back(ResultType(result));
    return Define(id, std::move(inputs), types);
  }

  ir::Type ResultType(ValueId result) const {
    const ir::Type* to = qdq_.QuantizedTo(result);
    return to && from_.type(result).dtype == ir::DType::kF32 ? *to : from_.type(result);
  }

  Result<ValueId> Reshaped(ValueId quantized, const ir::Shape& shape, const std::string& name,
                           const std::vector<std::string>& origin) {
    ir::Type type = to_.type(quantized);
    type.shape = shape;
    const ValueId extents =
        to_.AddConstant(Fresh(name + ".shape"),
                        ir::Tensor::Of<int64_t>({static_cast<int64_t>(shape.size())}, shape));
    const NodeId id = to_.AddNode({.name = FreshNode(name),
                                   .op = ops::FindOp("Reshape"),
                                   .inputs = {quantized, extents},
                                   .results = {{name, type}},
                                   .origin = origin});
    return to_.node(id).result();
  }

  // Emits Reshape, Gemm, Reshape: a Gemm has a bias, and its operands are matrices.
  Status EmitGemm(NodeId add, const QdqAnalysis::BatchedGemm& match) {
    const ir::Node& sum = from_.node(add);
    const ir::Node& product = from_.node(match.product);
    context_.Applied(kMatMulToGemm, sum.name, {NameOfResult(sum.result())});
    OCTAVO_TRY(const ValueId x, Get(qdq_.Quantized(product.input(0))));
    OCTAVO_TRY(const ValueId w, Get(qdq_.Quantized(product.input(1))));
    OCTAVO_TRY(const ValueId b, QuantizedBias(match.product, match.bias, sum.name));
    const std::string name = Claim(NameOfResult(sum.result()));
    std::vector<std::string> origin = product.origin;
    origin.insert(origin.end(), sum.origin.begin(), sum.origin.end());
    ir::Type type = ResultType(sum.result());
    const ir::Shape whole = type.shape, matrix = to_.type(w).shape;
    const int64_t count = type.elements() / matrix[1];
    OCTAVO_TRY(const ValueId before,
               Reshaped(x, {count, matrix[0]}, Fresh(to_.name(x) + ".rows"), origin));
    type.shape = {count, matrix[1]};
    const NodeId gemm = to_.AddNode({.name = sum.name,
                                     .op = ops::FindOp("Gemm"),
                                     .inputs = {before, w, b},
                                     .results = {{Fresh(name + ".rows"), type}},
                                     .origin = origin});
    OCTAVO_TRY(Map(sum.result()), Reshaped(to_.node(gemm).result(), whole, name, origin));
    return {};
  }

  // With one data input, the op keeps that input's type and each result is rescaled.  With several,
  // or if the Rescale cannot move through the op, the inputs are rescaled to the result's type.
  Status EmitSameScale(NodeId id, std::vector<ValueId> inputs) {
    const ir::Node& node = from_.node(id);
    std::vector<size_t> data;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool quantized = inputs[i] && to_.type(inputs[i]).quantized();
      if (quantized && node.op->RoleOf(i) == Role::kData) data.push_back(i);
    }
    const ir::Type first = to_.type(inputs[data.front()]);
    const ir::Type wanted = ResultType(node.results[0]);
    bool at_inputs = data.size() > 1;
    if (!at_inputs && node.op->rescale.why_not) {
      at_inputs = !node.op->rescale.why_not(from_, node, first, wanted).empty();
    }
    std::vector<ir::Type> types;
    for (const ValueId result : node.results) types.push_back(ResultType(result));
    // Several scales pass through as QdqAnalysis has checked; a result may have one of them.
    if (!wanted.quant->per_tensor() || (data.size() == 1 && !first.quant->per_tensor())) {
      return Define(id, std::move(inputs), types);
    }
    if (at_inputs) {
      for (const size_t i : data) {
        if (!to_.type(inputs[i]).quant->per_tensor()) continue;
        OCTAVO_TRY(inputs[i], Rescaled(inputs[i], wanted));
      }
    }
    const ir::Type& kept = at_inputs ? wanted : first;
    for (ir::Type& type : types) {
      if (!type.quantized()) continue;
      type.dtype = kept.dtype;
      type.quant = kept.quant;
    }
    return Define(id, std::move(inputs), types);
  }

  // Adds the op with these result types, and a Rescale for each result that its consumers quantize
  // to another type.
  Status Define(NodeId id, std::vector<ValueId> inputs, const std::vector<ir::Type>& types) {
    const ir::Node& node = from_.node(id);
    ir::Graph::Definition definition{.name = node.name,
                                     .op = node.op,
                                     .inputs = std::move(inputs),
                                     .attributes = node.attributes,
                                     .origin = node.origin};
    std::vector<std::string> names;
    for (size_t i = 0; i < node.results.size(); ++i) {
      const ValueId result = node.results[i];
      const bool quantized = types[i].quantized();
      names.push_back(quantized ? Claim(NameOfResult(result)) : from_.name(result));
      const bool is_wanted = types[i] == ResultType(result);
      definition.results.emplace_back(is_wanted ? names[i] : Fresh(names[i] + ".kept"), types[i]);
    }
    const NodeId copy = to_.AddNode(std::move(definition));
    for (size_t i = 0; i < node.results.size(); ++i) {
      ValueId value = to_.node(copy).results[i];
      if (types[i] != ResultType(node.results[i])) {
        OCTAVO_TRY(value, Own(qdq_.rescale(), "", value, names[i], ResultType(node.results[i]),
                              {node.name}));
      }
      Map(node.results[i]) = value;
    }
    return {};
  }

  // ---------------------------------------------------------------- aliases

  Status AddAliases() {
    for (size_t i = 0; i < from_.value_bound(); ++i) {
      const ValueId v{static_cast<int32_t>(i)};
      ValueId carrier = Map(v);
      const ValueId quantized = qdq_.Quantized(v);
      if (!carrier && quantized) carrier = Map(quantized);
      Alias(v, carrier);
      if (const ValueId plain = qdq_.Plain(v)) Alias(plain, carrier);
    }
    return {};
  }

  void Alias(ValueId v, ValueId carrier) {
    const std::string& name = from_.name(v);
    if (!carrier || to_.Find(name) || to_.aliases().count(name)) return;
    if (own_ && ir::IsNumberedName(name, to_.name(carrier) + ".float")) return;
    to_.AddAlias(name, carrier);
  }

  const ir::Graph& from_;
  const bool own_;
  const QdqAnalysis qdq_;
  ir::Graph to_;
  std::vector<ValueId> map_;
  std::vector<std::pair<ValueId, ValueId>> rescaled_;
  Context& context_;
  std::set<std::string> node_names_;
};

}  // namespace

Result<ir::Graph> BuildIntegerGraph(const ir::Graph& graph, const QdqOrigin& origin,
                                    Context& context) {
  return Builder(graph, origin, context).Run();
}

}  // namespace octavo::passes

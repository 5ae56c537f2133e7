#include "core/onnx/fold_qdq.h"

#include <algorithm>

#include "core/onnx/fold_rules.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {
namespace {

using ir::NodeId;
using ir::Role;
using ir::ValueId;

class Folder {
 public:
  Folder(const ir::Graph& graph, const PlainOf& plain_of, const FoldOptions& options,
         std::vector<NewArithmetic>& changed)
      : from_(graph),
        plain_of_(plain_of),
        rules_(graph, plain_of, options),
        map_(graph.value_bound()),
        changed_(changed) {
    for (const NodeId id : graph.nodes()) node_names_.insert(graph.node(id).name);
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
  ValueId& Map(ValueId v) { return map_[static_cast<size_t>(v.index)]; }

  // A name that neither graph has.
  std::string Fresh(const std::string& base) const {
    std::string name = base;
    for (int i = 1; from_.Find(name) || to_.Knows(name); ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }
  // The same for a node that the model does not have.
  std::string FreshNode(const std::string& base) const {
    std::string name = to_.UniqueNodeName(base);
    while (node_names_.count(name)) name = to_.UniqueNodeName(name + "_1");
    return name;
  }
  std::string Claim(const std::string& name) const { return to_.Find(name) ? Fresh(name) : name; }

  void AddInput(ValueId input) {
    const ValueId reading = rules_.OnlyReading(input);
    const ir::Type& type = from_.type(reading ? reading : input);
    Map(input) = to_.AddInput(from_.name(input), type);
    if (reading) Map(reading) = Map(input);
  }

  // The value that carries `v`; constants come as they are read.
  Result<ValueId> Get(ValueId v) {
    if (!v || Map(v)) return v ? Map(v) : v;
    const ir::Value& value = from_.value(v);
    if (!value.constant) {
      return Fail(Code::kInternal, "folding lost the value '{}'", value.name);
    }
    std::string name = value.name;
    if (value.type.quantized()) {
      name = Claim(rules_.NameOf(v));
      const auto plain = plain_of_.find(v);
      // The plain integer is read too and keeps its name.
      if (plain != plain_of_.end() && name == from_.name(plain->second) &&
          from_.CountUses(plain->second) > 0) {
        name = Fresh(name + ".codes");
      }
    }
    return Map(v) = to_.AddConstant(name, value.constant, value.type);
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
    if (rules_.IsQuantize(id)) return EmitQuantize(id);
    if (rules_.IsDequantize(id)) return EmitDequantize(id);
    if (rules_.IsReinterpret(id) && Map(node.result())) return {};
    if (rules_.IsPart(id)) return {};
    if (const FoldRules::Rows* rows = rules_.RowsOf(id)) return EmitRows(id, *rows);
    if (rules_.Folded(id)) return EmitFolded(id);
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
      const bool codes = from_.type(result).quantized();
      definition.results.emplace_back(codes ? Claim(rules_.NameOf(result)) : from_.name(result),
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
    const ValueId real = node.input(0), codes = node.result();
    const NodeId producer = from_.value(real).producer;
    if (producer && rules_.Folded(producer)) {
      Map(codes) = Map(real);
      // A second integer tensor of the same value that is an output must stay one.
      if (!from_.IsOutput(codes) || to_.name(Map(codes)) == from_.name(codes)) return {};
      OCTAVO_TRY(Map(codes), Own(rules_.rescale(), node.name, Map(real), from_.name(codes),
                                 from_.type(codes), node.origin));
      return {};
    }
    const ValueId source = rules_.Codes(real);
    if (!source) return Copy(id);
    OCTAVO_TRY(const ValueId mapped, Get(source));
    if (from_.type(source) == from_.type(codes) && !from_.IsOutput(codes)) {
      Map(codes) = mapped;
      return {};
    }
    if (!from_.type(source).quant->per_tensor() || !from_.type(codes).quant->per_tensor()) {
      OCTAVO_CHECK(Reals(real));
      return Copy(id);
    }
    OCTAVO_TRY(Map(codes), Own(rules_.rescale(), node.name, mapped, Claim(rules_.NameOf(codes)),
                               from_.type(codes), node.origin));
    return {};
  }

  Status EmitDequantize(NodeId id) {
    const ValueId real = from_.node(id).result();
    return rules_.NeedsReals(real) ? Reals(real) : Status();
  }

  // Makes the Dequantize behind a float, if it is not there yet.
  Status Reals(ValueId real) {
    if (Map(real)) return {};
    const NodeId id = from_.value(real).producer;
    const ir::Node& node = from_.node(id);
    OCTAVO_TRY(const ValueId codes, Get(node.input(0)));
    const std::string& name = from_.name(real);
    OCTAVO_TRY(Map(real),
               Own(node.op, node.name, codes, to_.Find(name) ? Fresh(name + ".dq") : name,
                   from_.type(real), node.origin));
    return {};
  }

  // ---------------------------------------------------------------- folded operators

  // What a folded result is called: as its readers call its codes, or as the model calls its reals
  // where a clamp reads it.
  std::string NameOfResult(ValueId result) const {
    const NodeId quantize = rules_.QuantizeOf(result);
    return quantize ? rules_.NameOf(from_.node(quantize).result()) : from_.name(result);
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
               Own(rules_.rescale(), "", value, Fresh(to_.name(value) + ".r"), type, {}));
    rescaled_.emplace_back(value, result);
    return result;
  }

  // The codes of a bias of the product `id`.
  Result<ValueId> PendingBias(NodeId id, ValueId bias) {
    const ir::Value& value = from_.value(bias);
    const ir::Type type{ir::DType::kI32, {value.type.elements()}, rules_.BiasQuant(id), {}};
    const std::string name = Claim(value.name);
    const ValueId reals =
        to_.AddConstant(Fresh(value.name + ".float"), value.constant->tensor.Reshaped(type.shape));
    return Own(rules_.quantize(), "", reals, name, type, {});
  }

  Status EmitFolded(NodeId id) {
    const ir::Node& node = from_.node(id);
    std::vector<ValueId> inputs;
    std::string rounded;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool real = node.inputs[i] && node.op->RoleOf(i) != Role::kParameter;
      const ValueId codes = real ? rules_.Codes(node.inputs[i]) : ValueId{};
      if (real && !codes && rules_.IsPendingBias(id, i)) {
        OCTAVO_TRY(const ValueId bias, PendingBias(id, node.inputs[i]));
        inputs.push_back(bias);
        rounded = from_.name(node.inputs[i]);
        continue;
      }
      OCTAVO_TRY(const ValueId mapped, Get(codes ? codes : node.inputs[i]));
      inputs.push_back(mapped);
    }
    if (node.op->QuantOf(from_, node).kind == ir::QuantRule::Kind::kSameAsInput) {
      return EmitTypeKeeper(id, std::move(inputs));
    }
    changed_.push_back({node.name, NameOfResult(node.results[0]), std::move(rounded)});
    std::vector<ir::Type> types;
    for (const ValueId result : node.results) types.push_back(ResultType(result));
    return Define(id, std::move(inputs), types);
  }

  ir::Type ResultType(ValueId result) const {
    const ir::Type* to = rules_.QuantizedTo(result);
    return to && from_.type(result).dtype == ir::DType::kF32 ? *to : from_.type(result);
  }

  Result<ValueId> Reshaped(ValueId codes, const ir::Shape& shape, const std::string& name,
                           const std::vector<std::string>& origin) {
    ir::Type type = to_.type(codes);
    type.shape = shape;
    const ValueId extents =
        to_.AddConstant(Fresh(name + ".shape"),
                        ir::Tensor::Of<int64_t>({static_cast<int64_t>(shape.size())}, shape));
    const NodeId id = to_.AddNode({.name = FreshNode(name),
                                   .op = ops::FindOp("Reshape"),
                                   .inputs = {codes, extents},
                                   .results = {{name, type}},
                                   .origin = origin});
    return to_.node(id).result();
  }

  // Reshape, Gemm, Reshape: a matrix of rows is what takes a bias.
  Status EmitRows(NodeId id, const FoldRules::Rows& rows) {
    const ir::Node& sum = from_.node(id);
    const ir::Node& product = from_.node(rows.product);
    OCTAVO_TRY(const ValueId x, Get(rules_.Codes(product.input(0))));
    OCTAVO_TRY(const ValueId w, Get(rules_.Codes(product.input(1))));
    OCTAVO_TRY(const ValueId b, PendingBias(rows.product, rows.bias));
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
    changed_.push_back({sum.name, name, from_.name(rows.bias)});
    return {};
  }

  // One operand: it keeps its type and each result is rescaled.  Several, or an operator through
  // which this Rescale cannot move: the operands are rescaled to the result's type.
  Status EmitTypeKeeper(NodeId id, std::vector<ValueId> inputs) {
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
    if (!wanted.quant->per_tensor()) return Define(id, std::move(inputs), types);
    if (at_inputs) {
      for (const size_t i : data) {
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

  // Adds the operator with these result types; a result whose readers want another gets a Rescale.
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
      const bool codes = types[i].quantized();
      names.push_back(codes ? Claim(NameOfResult(result)) : from_.name(result));
      const bool as_wanted = types[i] == ResultType(result);
      definition.results.emplace_back(as_wanted ? names[i] : Fresh(names[i] + ".kept"), types[i]);
    }
    const NodeId copy = to_.AddNode(std::move(definition));
    for (size_t i = 0; i < node.results.size(); ++i) {
      ValueId value = to_.node(copy).results[i];
      if (types[i] != ResultType(node.results[i])) {
        OCTAVO_TRY(value, Own(rules_.rescale(), "", value, names[i], ResultType(node.results[i]),
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
      const ValueId codes = rules_.Codes(v);
      if (!carrier && codes) carrier = Map(codes);
      Alias(v, carrier);
      if (const auto plain = plain_of_.find(v); plain != plain_of_.end()) {
        Alias(plain->second, carrier);
      }
    }
    return {};
  }

  void Alias(ValueId v, ValueId carrier) {
    const std::string& name = from_.name(v);
    if (!carrier || to_.Find(name) || to_.aliases().count(name)) return;
    to_.AddAlias(name, carrier);
  }

  const ir::Graph& from_;
  const PlainOf& plain_of_;
  FoldRules rules_;
  ir::Graph to_;
  std::vector<ValueId> map_;
  std::vector<std::pair<ValueId, ValueId>> rescaled_;
  std::vector<NewArithmetic>& changed_;
  std::set<std::string> node_names_;
};

}  // namespace

Result<ir::Graph> FoldQdq(const ir::Graph& graph, const PlainOf& plain_of,
                          const FoldOptions& options, std::vector<NewArithmetic>& changed) {
  return Folder(graph, plain_of, options, changed).Run();
}

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/graph_builder.h"

#include <algorithm>

#include "core/ir/map_quant.h"
#include "core/ir/verify.h"
#include "core/onnx/wire/tensor_proto.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

using ir::ValueId;

std::string GraphBuilder::Fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; reserved_.count(name) || graph_.Knows(name); ++i) {
    name = fmt::format("{}_{}", base, i);
  }
  return name;
}

std::string GraphBuilder::FreshNode(const std::string& base) const {
  std::string name = graph_.UniqueNodeName(base);
  while (reserved_nodes_.count(name)) name = graph_.UniqueNodeName(name + "_1");
  return name;
}

Result<const ir::OpDef*> GraphBuilder::OpOf(const Draft& draft) const {
  const ir::OpDef* op = ops::FindOp(draft.op, draft.domain);
  if (op == nullptr && find_op_) op = find_op_(draft.op, draft.domain);
  if (op != nullptr) return op;
  const std::string domain =
      draft.domain.empty() ? "" : fmt::format(" of domain '{}'", draft.domain);
  return Fail(Code::kUnimplemented, "node '{}': operator '{}'{} is not supported", draft.name,
              draft.op, domain)
      .Node(draft.name)
      .Reason("UNSUPPORTED_OPERATOR");
}

Result<ValueId> GraphBuilder::ValueOf(const Draft& draft, const Operand& operand) {
  if (operand.value) return operand.value;
  if (operand.literal) {
    std::string base = draft.outputs.front();
    if (own_ && base.ends_with(".float")) base.resize(base.size() - 6);
    return graph_.AddConstant(Fresh(base + "." + operand.name), *operand.literal);
  }
  if (operand.name.empty()) return ValueId{};
  const auto at = locals_.find(operand.name);
  if (at == locals_.end()) {
    return Fail(Code::kInternal, "conversion of {} '{}' reads '{}', which does not exist", draft.op,
                draft.name, operand.name);
  }
  return at->second;
}

Status GraphBuilder::Add(const Conversion& conversion) {
  locals_.clear();
  for (Draft draft : conversion.before) {
    const std::string local = draft.outputs.front();
    draft.outputs.front() = Fresh(local);
    while (reserved_nodes_.count(draft.name)) draft.name += "_1";
    draft.name = graph_.UniqueNodeName(draft.name);
    OCTAVO_CHECK(AddDraft(draft));
    locals_[local] = graph_.Find(draft.outputs.front());
  }
  return AddDraft(conversion.node);
}

Status GraphBuilder::AddDraft(const Draft& draft) {
  OCTAVO_TRY(const ir::OpDef* op, OpOf(draft));
  ir::Graph::Definition definition{
      .name = draft.name, .op = op, .attributes = draft.attributes, .origin = {draft.name}};
  for (const Operand& operand : draft.inputs) {
    OCTAVO_TRY(const ValueId value, ValueOf(draft, operand));
    definition.inputs.push_back(value);
  }
  for (const std::string& output : draft.outputs) {
    const std::string name = output.empty() ? Fresh(draft.name + ".unread") : output;
    if (output.empty()) reserved_.insert(name);
    definition.results.emplace_back(name, ir::Type{});
  }
  const ir::NodeId id = graph_.AddNode(std::move(definition));
  OCTAVO_CHECK(InferTypes(id));
  return TypeQuantized(id);
}

const ir::Tensor* GraphBuilder::Elements(const Draft& draft, size_t input) const {
  if (const ir::Tensor* constant = ConstantOf(graph_, draft, input)) return constant;
  if (!draft.Has(input) || !draft.inputs[input].value) return nullptr;
  const ValueId value = draft.inputs[input].value;
  return graph_.type(value).quantized() ? nullptr : inference_.Known(value);
}

Status GraphBuilder::InferTypes(ir::NodeId id) {
  OCTAVO_TRY(const std::vector<ir::Type> types, inference_.Infer(id));
  const ir::Node& node = graph_.node(id);
  for (size_t i = 0; i < types.size(); ++i) {
    ir::Type type = types[i];
    // Quantized results stay quantized; only their shape is inferred.
    if (const ir::Type& now = graph_.type(node.results[i]); now.quantized()) {
      type.dtype = now.dtype;
      type.quant = now.quant;
    }
    graph_.SetType(node.results[i], std::move(type));
  }
  inference_.Learn(id);
  return {};
}

Status GraphBuilder::TypeQuantized(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  const auto quantized = std::find_if(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input && graph_.type(input).quantized();
  });
  if (quantized == node.inputs.end()) return {};
  const ir::Type type = graph_.type(*quantized);
  const ir::QuantRule rule = node.op->QuantOf(graph_, node);
  if (rule.kind == ir::QuantRule::Kind::kNotReal && type.quant->per_tensor()) return {};
  const auto refuse = [&](std::string_view why) {
    return Fail(Code::kUnimplemented, "{} '{}' has the quantized input '{}': {}", node.op->name,
                node.name, graph_.name(*quantized), why)
        .Node(node.name);
  };
  if (rule.kind != ir::QuantRule::Kind::kSameScale)
    return refuse("the operator does not only move elements");
  const int first = static_cast<int>(quantized - node.inputs.begin());
  if (!ir::MapQuant(graph_, node, first, 0, *type.quant)) {
    return refuse("its result has no quantization axis");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input || node.op->RoleOf(i) != ir::Role::kData || input == *quantized) continue;
    if (graph_.type(input).dtype != type.dtype) return refuse("its inputs have different types");
    OCTAVO_TRY(const ValueId same, AsQuantized(input, *type.quant, node.name));
    if (same != input) graph_.SetInput(id, i, same);
  }
  for (size_t k = 0; k < graph_.node(id).results.size(); ++k) {
    const ValueId value = graph_.node(id).results[k];
    ir::Type now = graph_.type(value);
    if (now.dtype != ir::DType::kF32) continue;  // indices stay unquantized
    now.dtype = type.dtype;
    now.quant = ir::MapQuant(graph_, graph_.node(id), first, k, *type.quant);
    graph_.SetType(value, std::move(now));
  }
  return {};
}

Result<ValueId> GraphBuilder::AddOwn(std::string_view op_name, const std::string& node,
                                     const std::string& result, ValueId operand, ir::Type type) {
  const ir::OpDef* op = ops::FindOp(op_name, "octavo");
  if (op == nullptr) return Fail(Code::kInternal, "operator octavo.{} is missing", op_name);
  OCTAVO_CHECK(ir::CheckQuant(result, type));
  const ir::NodeId id = graph_.AddNode({.name = node,
                                        .op = op,
                                        .inputs = {operand},
                                        .results = {{result, std::move(type)}},
                                        .origin = {node}});
  OCTAVO_CHECK(InferTypes(id));
  return graph_.node(id).result();
}

Result<ValueId> GraphBuilder::AsQuantized(ValueId value, const ir::Quant& quant,
                                          std::string_view reader) {
  const ir::Type& type = graph_.type(value);
  if (type.quantized()) {
    if (type.quant == quant) return value;
    return Fail(Code::kUnimplemented,
                "'{}' is quantized with one scale and zero point and dequantized by '{}' with "
                "another",
                graph_.name(value), reader)
        .Node(reader);
  }
  for (const ValueId known : reinterprets_[value]) {
    if (graph_.type(known).quant == quant) return known;
  }
  return Reinterpreted(value, quant);
}

Result<ValueId> GraphBuilder::AsDequantized(ValueId value, const ir::Quant& quant,
                                            const Draft& dequantize) {
  if (!own_ || !graph_.IsConstant(value) || graph_.type(value).quantized()) {
    return AsQuantized(value, quant, dequantize.name);
  }
  const bool to_output = outputs_.count(dequantize.outputs.front()) > 0;
  for (const ValueId known : reinterprets_[value]) {
    const auto at = dequantized_.find(known);
    const bool is_free = at == dequantized_.end() || (to_output && at->second);
    if (graph_.type(known).quant != quant || !is_free) continue;
    dequantized_.emplace(known, to_output);
    return known;
  }
  OCTAVO_TRY(const ValueId typed, Reinterpreted(value, quant));
  dequantized_.emplace(typed, to_output);
  return typed;
}

Result<ValueId> GraphBuilder::Reinterpreted(ValueId value, const ir::Quant& quant) {
  ir::Type type = graph_.type(value);
  type.quant = quant;
  OCTAVO_CHECK(ir::CheckQuant(graph_.name(value), type));
  const std::string name = Fresh(graph_.name(value) + ".codes");
  OCTAVO_TRY(const ValueId typed,
             AddOwn("Reinterpret", FreshNode(name), name, value, std::move(type)));
  reinterprets_[value].push_back(typed);
  return typed;
}

Result<ValueId> GraphBuilder::AsBlocked(ValueId value, const ir::Quant& quant) {
  const std::string name = graph_.name(value);
  ir::Tensor tensor = graph_.value(value).constant->tensor;
  if (IsFourBit(value)) tensor = WithDType(tensor, FourBitsOf(tensor.dtype()));
  if (graph_.type(value).quant == quant) return value;
  ir::Type type{tensor.dtype(), tensor.shape(), quant, {}};
  OCTAVO_CHECK(ir::CheckQuant(name, type));
  const bool free = !graph_.type(value).quantized() && !read_.contains(name);
  if (free && !outputs_.contains(name)) {
    graph_.SetPayload(value, ir::MakePayload(std::move(tensor)), std::move(type));
    return value;
  }
  for (const ValueId known : reinterprets_[value]) {
    if (graph_.type(known) == type) return known;
  }
  const ValueId copy =
      graph_.AddConstant(Fresh(name + ".codes"), ir::MakePayload(std::move(tensor)), type);
  reinterprets_[value].push_back(copy);
  return copy;
}

Result<ValueId> GraphBuilder::AddQuantized(std::string_view op_name, const Draft& draft,
                                           std::vector<ValueId> inputs, ir::AttrMap attributes,
                                           const ir::Type& type) {
  Draft named = draft;
  named.op = op_name;
  named.domain.clear();
  OCTAVO_TRY(const ir::OpDef* op, OpOf(named));
  OCTAVO_CHECK(ir::CheckQuant(draft.outputs.front(), type));
  const ir::NodeId id = graph_.AddNode({.name = draft.name,
                                        .op = op,
                                        .inputs = std::move(inputs),
                                        .attributes = std::move(attributes),
                                        .results = {{draft.outputs.front(), type}},
                                        .origin = {draft.name}});
  OCTAVO_CHECK(InferTypes(id));
  return graph_.node(id).result();
}

}  // namespace octavo::onnx

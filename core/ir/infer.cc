// SPDX-License-Identifier: Apache-2.0
#include "core/ir/infer.h"

#include <algorithm>

namespace octavo::ir {
namespace {

// Larger values are computed when the job folds constants, not during type inference.
constexpr int64_t kMaxKnownElements = 4096;

struct Operands {
  std::vector<Type> types;
  std::vector<const Tensor*> known;
};

template <class Known>
Operands OperandsOf(const Graph& graph, const Node& node, const Known& known) {
  Operands operands;
  operands.types.reserve(node.inputs.size());
  operands.known.reserve(node.inputs.size());
  for (const ValueId input : node.inputs) {
    operands.types.push_back(input ? graph.type(input).Expressed() : Type{});
    operands.known.push_back(input ? known(input) : nullptr);
  }
  return operands;
}

Status CheckSchema(const Node& node) {
  const OpDef& op = *node.op;
  const auto wrong = [&](std::string message) {
    return Fail(Code::kInvalidArgument, "{} '{}': {}", op.name, node.name, message).Node(node.name);
  };
  const int inputs = static_cast<int>(node.inputs.size());
  if (inputs < op.inputs.min || inputs > op.inputs.max) {
    return wrong(
        fmt::format("has {} inputs, but must have {} to {}", inputs, op.inputs.min, op.inputs.max));
  }
  for (int i = 0; i < op.inputs.min; ++i) {
    if (!node.inputs[i]) return wrong(fmt::format("input {} must be given", i));
  }
  const int results = static_cast<int>(node.results.size());
  if (results < op.results.min || results > op.results.max) {
    return wrong(fmt::format("has {} outputs, but must have {} to {}", results, op.results.min,
                             op.results.max));
  }
  for (const auto& [name, attribute] : node.attributes) {
    bool found = false;
    for (const AttrSpec& spec : op.attributes) {
      if (spec.name != name) continue;
      found = true;
      if (spec.kind != KindOf(attribute)) {
        return wrong(fmt::format("attribute '{}' has the wrong kind", name)).Field(name);
      }
    }
    if (!found) return wrong(fmt::format("unknown attribute '{}'", name)).Field(name);
  }
  for (const AttrSpec& spec : op.attributes) {
    if (spec.required && !node.attributes.Has(spec.name)) {
      return wrong(fmt::format("attribute '{}' is missing", spec.name)).Field(spec.name);
    }
  }
  return {};
}

Result<std::vector<Type>> InferWith(const Node& node, const Operands& operands) {
  OCTAVO_CHECK(CheckSchema(node));
  InferContext context(node, operands.types, operands.known, node.results.size());
  OCTAVO_CHECK(node.op->infer(context));
  for (const Type& type : context.results()) {
    for (const int64_t extent : type.shape) {
      if (extent < 0) return context.Invalid("result shape {} is negative", ToString(type.shape));
    }
    // This leaves room for index arithmetic; the job limits memory.
    if (type.bytes() > (int64_t{1} << 48)) {
      return context.Invalid("result shape {} is too large", ToString(type.shape));
    }
  }
  return context.results();
}

}  // namespace

Result<std::vector<Type>> Inference::Infer(NodeId id) {
  const Node& node = graph_.node(id);
  auto types = InferWith(node, OperandsOf(graph_, node, [&](ValueId v) { return Known(v); }));
  if (!types && types.error().reason == kDependsOnData) {
    // An op's error names its operand by number only.
    Error error = types.error();
    error.field = graph_.name(node.inputs[std::stoul(error.field)]);
    return Forward(std::move(error));
  }
  return types;
}

void Inference::Learn(NodeId id) {
  const Node& node = graph_.node(id);
  if (node.op->definition == nullptr) return;
  int64_t elements = 0;
  std::vector<Tensor> results;
  for (const ValueId result : node.results) {
    const Type& type = graph_.type(result);
    if (type.quantized() || type.elements() > kMaxKnownElements) return;
    elements += type.elements();
  }
  if (elements > kMaxKnownElements) return;
  // Definitions do not support 16-bit floats, and no shape depends on them.
  const auto half = [&](ValueId id) {
    return id && SizeOf(graph_.type(id).dtype) == 2 && IsFloat(graph_.type(id).dtype);
  };
  if (std::ranges::any_of(node.inputs, half) || std::ranges::any_of(node.results, half)) return;
  std::vector<Tensor> shapes;
  std::vector<const Tensor*> inputs;
  shapes.reserve(node.inputs.size());
  for (const ValueId input : node.inputs) {
    if (!input) {
      inputs.push_back(nullptr);
      continue;
    }
    const Tensor* known = Known(input);
    if (graph_.type(input).quantized() && !node.op->shape_only) return;
    if (known == nullptr && node.op->shape_only) {
      // The op uses only the shape, so the tensor needs no elements.
      const Type& type = graph_.type(input);
      shapes.emplace_back(type.dtype, type.shape, std::shared_ptr<void>(), nullptr);
      known = &shapes.back();
    }
    if (known == nullptr || (!node.op->shape_only && known->size() > kMaxKnownElements)) return;
    inputs.push_back(known);
  }
  for (const ValueId result : node.results) {
    results.emplace_back(graph_.type(result).dtype, graph_.type(result).shape);
  }
  ThreadPool alone(1);
  const EvalContext context{.node = node, .inputs = inputs, .results = results, .pool = &alone};
  if (!node.op->definition(context)) return;  // running the graph reports the error
  for (size_t i = 0; i < results.size(); ++i) {
    known_.insert_or_assign(node.results[i], std::move(results[i]));
  }
}

const Tensor* Inference::Known(ValueId id) const {
  const Value& value = graph_.value(id);
  if (value.constant) return value.type.quantized() ? nullptr : &value.constant->tensor;
  const auto at = known_.find(id);
  return at == known_.end() ? nullptr : &at->second;
}

Result<std::vector<Type>> InferNode(const Graph& graph, const OpDef& op, std::string_view name,
                                    const std::vector<ValueId>& inputs, const AttrMap& attributes,
                                    size_t results) {
  Node node;
  node.name = name;
  node.op = &op;
  node.inputs = inputs;
  node.attributes = attributes;
  node.results.resize(results);
  const auto constant = [&](ValueId id) -> const Tensor* {
    const Value& value = graph.value(id);
    return value.constant && !value.type.quantized() ? &value.constant->tensor : nullptr;
  };
  return InferWith(node, OperandsOf(graph, node, constant));
}

}  // namespace octavo::ir

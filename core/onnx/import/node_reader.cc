// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/node_reader.h"

#include <queue>
#include <unordered_map>

namespace octavo::onnx {
namespace {

using Wire = onnx_wire::Attribute;

template <class T, class List>
std::vector<T> ListOf(const List& list) {
  return std::vector<T>(list.begin(), list.end());
}

// Models of IR version 3 may omit the kind.
int KindOf(const Wire& attribute) {
  if (attribute.type() != Wire::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Wire::FLOAT;
  if (attribute.has_i()) return Wire::INT;
  if (attribute.has_s()) return Wire::STRING;
  if (attribute.has_t()) return Wire::TENSOR;
  if (attribute.has_g()) return Wire::GRAPH;
  if (attribute.floats_size()) return Wire::FLOATS;
  if (attribute.strings_size()) return Wire::STRINGS;
  return Wire::INTS;
}

Result<ir::Attribute> ReadAttribute(const Wire& attribute, const onnx_wire::Node& node,
                                    std::string_view name, const TensorSource& source) {
  switch (KindOf(attribute)) {
    case Wire::FLOAT:
      return attribute.f();
    case Wire::INT:
      return int64_t{attribute.i()};
    case Wire::STRING:
      return attribute.s();
    case Wire::FLOATS:
      return ListOf<float>(attribute.floats());
    case Wire::INTS:
      return ListOf<int64_t>(attribute.ints());
    case Wire::STRINGS:
      return ListOf<std::string>(attribute.strings());
    case Wire::TENSOR: {
      OCTAVO_TRY(ir::Tensor tensor, ReadTensor(attribute.t(), source));
      return ir::MakePayload(std::move(tensor));
    }
    case Wire::GRAPH:
    case Wire::GRAPHS:
      return Fail(Code::kUnimplemented,
                  "node '{}': operator '{}' has a subgraph '{}'; control flow is not supported",
                  name, node.op_type(), attribute.name())
          .Node(name)
          .Field(attribute.name())
          .Reason("UNSUPPORTED_OPERATOR");
    default:
      return Fail(Code::kUnimplemented,
                  "node '{}': attribute '{}' of operator '{}' is of a kind that is not supported",
                  name, attribute.name(), node.op_type())
          .Node(name)
          .Field(attribute.name());
  }
}

}  // namespace

Result<ir::AttrMap> ReadAttributes(const onnx_wire::Node& node, std::string_view name,
                                   const TensorSource& source) {
  ir::AttrMap attributes;
  for (const Wire& attribute : node.attribute()) {
    if (attributes.Has(attribute.name()) || attribute.has_ref_attr_name()) {
      return Fail(Code::kInvalidArgument, "node '{}': attribute '{}' {}", name, attribute.name(),
                  attribute.has_ref_attr_name() ? "refers to a function's" : "is given twice")
          .Node(name)
          .Field(attribute.name());
    }
    OCTAVO_TRY(ir::Attribute value, ReadAttribute(attribute, node, name, source));
    attributes.Set(attribute.name(), std::move(value));
  }
  return attributes;
}

Result<ir::Tensor> ConstantValue(const Draft& draft) {
  const ir::AttrMap& attributes = draft.attributes;
  if (attributes.size() != 1) return Invalid(draft, "must have one attribute with its value");
  const auto& [name, value] = *attributes.begin();
  if (name == "value" && attributes.TensorOf(name)) return attributes.TensorOf(name)->tensor;
  if (name == "value_float") return ir::Tensor::Scalar(attributes.Float(name, 0));
  if (name == "value_int") return ir::Tensor::Scalar(attributes.Int(name, 0));
  if (name == "value_ints") return ir::Tensor::Ints(attributes.Ints(name));
  if (name == "value_floats") {
    const std::vector<float> list = attributes.Floats(name);
    return ir::Tensor::Of<float>({static_cast<int64_t>(list.size())}, list);
  }
  return Unsupported(draft, "attribute '{}' is not supported", name);
}

std::vector<std::string> SettleNames(const onnx_wire::Graph& graph) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> repeats;
  for (const onnx_wire::Node& node : graph.node()) {
    std::string base = node.name();
    for (const std::string& output : node.output()) {
      if (base.empty()) base = output;
    }
    std::string name = base;
    while (!taken.insert(name).second) name = fmt::format("{}_{}", base, ++repeats[base]);
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<int>> SortNodes(const onnx_wire::Graph& graph,
                                   const std::vector<std::string>& names,
                                   const std::unordered_set<std::string>& known) {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;
      if (known.count(output) || !producer.emplace(output, i).second) {
        return Fail(Code::kInvalidArgument, "value '{}' is defined twice (node '{}')", output,
                    names[static_cast<size_t>(i)])
            .Node(names[static_cast<size_t>(i)])
            .Field(output)
            .Reason("DEFINED_TWICE");
      }
    }
  }
  std::vector<int> waiting(names.size(), 0);
  std::vector<std::vector<int>> readers(names.size());
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& input : graph.node(i).input()) {
      if (input.empty() || known.count(input)) continue;
      const auto at = producer.find(input);
      if (at == producer.end()) {
        return Fail(Code::kInvalidArgument, "node '{}' ({}) reads '{}', which is not defined",
                    names[static_cast<size_t>(i)], graph.node(i).op_type(), input)
            .Node(names[static_cast<size_t>(i)])
            .Field(input)
            .Reason("UNDEFINED_VALUE");
      }
      ++waiting[static_cast<size_t>(i)];
      readers[static_cast<size_t>(at->second)].push_back(i);
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const int reader : readers[static_cast<size_t>(i)]) {
      if (--waiting[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (size_t i = 0; i < waiting.size() && order.size() != names.size(); ++i) {
    if (waiting[i] == 0) continue;
    return Fail(Code::kInvalidArgument, "node '{}' ({}) is part of a cycle or reads from one",
                names[i], graph.node(static_cast<int>(i)).op_type())
        .Node(names[i])
        .Reason("CYCLE");
  }
  return order;
}

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/put_back.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/onnx/versions/kept_forms.h"

namespace octavo::onnx {
namespace {

using Info = onnx_wire::ValueInfo;

Failure Broken(std::string_view what) {
  return Fail(Code::kInternal, "the model's {} cannot be read again", what);
}

// `who` has the operator as opset `from` has it.
Failure OtherForm(std::string_view who, std::string_view op, int64_t from, int64_t opset) {
  return Fail(Code::kUnimplemented,
              "{} has {} as opset {} has it, and opset {}, which the result needs, may have it in "
              "another form; convert the model to that opset first, or choose options that need "
              "none{}",
              who, op, from, opset, opset == 13 ? " (--per-tensor weights)" : "")
      .Field("opset");
}

Status CheckForms(const OpaquePart& part, int64_t opset) {
  for (const OpaqueNode& node : part.nodes) {
    for (const std::string& op : node.own_ops) {
      if (KeepsForm(op, part.opset, opset)) continue;
      return OtherForm(fmt::format("{} '{}'", node.op, node.name), op, part.opset, opset)
          .Node(node.name);
    }
  }
  return {};
}

// The operators of a local function have the forms of the opsets that the function imports, and its
// model may not have others.
Status CheckFunctionForms(const OpaquePart& part, int64_t opset) {
  for (const std::string& bytes : part.functions) {
    onnx_wire::Function function;
    if (!function.ParseFromString(bytes)) return Broken("local functions");
    int64_t from = part.opset;
    for (const onnx_wire::OperatorSet& each : function.opset_import()) {
      if (each.domain().empty()) from = each.version();
    }
    for (const onnx_wire::Node& node : function.node()) {
      if (!node.domain().empty() || KeepsForm(node.op_type(), from, opset)) continue;
      return OtherForm(fmt::format("function '{}'", function.name()), node.op_type(), from, opset);
    }
  }
  return {};
}

// What the nodes read must still be what they were written for.
Status CheckTypes(const OpaquePart& part, const onnx_wire::Graph& graph) {
  std::unordered_map<std::string, int> types;
  for (const auto* infos : {&graph.input(), &graph.output()}) {
    for (const Info& info : *infos) {
      types.emplace(info.name(), info.type().tensor_type().elem_type());
    }
  }
  for (const OpaqueNode& node : part.nodes) {
    for (const std::string& name : node.reads) {
      const auto now = types.find(name);
      const auto then = part.read_types.find(name);
      if (now == types.end() || then == part.read_types.end() || now->second == then->second) {
        continue;
      }
      return Fail(Code::kUnimplemented,
                  "{} '{}' reads '{}' as float, which --integer-io makes integers", node.op,
                  node.name, name)
          .Node(node.name)
          .Field("integer_io");
    }
  }
  return {};
}

// Inputs or outputs in the model's order; returns those that are none of the model's.
Result<std::vector<Info>> Reorder(const std::vector<std::string>& order,
                                  const std::map<std::string, std::string>& others,
                                  google::protobuf::RepeatedPtrField<Info>& infos) {
  std::unordered_map<std::string, Info> have;
  std::vector<Info> rest;
  const std::unordered_set<std::string> own(order.begin(), order.end());
  for (const Info& info : infos) {
    if (own.contains(info.name())) {
      have.emplace(info.name(), info);
    } else {
      rest.push_back(info);
    }
  }
  infos.Clear();
  std::unordered_set<std::string> listed;
  for (const std::string& name : order) {
    const auto at = have.find(name);
    if (const auto other = others.find(name); other != others.end()) {
      if (!infos.Add()->ParseFromString(other->second)) return Broken(name);
    } else if (at != have.end()) {
      *infos.Add() = at->second;
    }
  }
  return rest;
}

// A topological order: nodes of the part as early as possible, those of the graph in their order
// where possible.  A message that was ordered so keeps its order.
class Order {
 public:
  explicit Order(const std::vector<const std::vector<std::string>*>& reads,
                 const std::unordered_map<std::string, size_t>& producers)
      : waiting_(reads.size(), 0), readers_(reads.size()) {
    for (size_t i = 0; i < reads.size(); ++i) {
      for (const std::string& name : *reads[i]) {
        const auto producer = producers.find(name);
        if (producer == producers.end()) continue;
        ++waiting_[i];
        readers_[producer->second].push_back(i);
      }
    }
  }

  // Numbers of nodes; fewer than there are if they form a cycle.
  std::vector<size_t> Run() {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i] == 0) ready.push(i);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t next = ready.top();
      ready.pop();
      order.push_back(next);
      for (const size_t reader : readers_[next]) {
        if (--waiting_[reader] == 0) ready.push(reader);
      }
    }
    return order;
  }

 private:
  std::vector<size_t> waiting_;
  std::vector<std::vector<size_t>> readers_;
};

Status InsertNodes(const OpaquePart& part, onnx_wire::Graph& graph) {
  std::unordered_map<std::string, size_t> producers;
  std::vector<const std::vector<std::string>*> reads;
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    for (const std::string& name : part.nodes[i].results) producers.emplace(name, i);
    reads.push_back(&part.nodes[i].reads);
  }
  std::vector<std::vector<std::string>> own;
  own.reserve(static_cast<size_t>(graph.node_size()));
  for (const onnx_wire::Node& node : graph.node()) {
    own.emplace_back(node.input().begin(), node.input().end());
    for (const std::string& name : node.output()) {
      if (name.empty() || producers.emplace(name, reads.size()).second) continue;
      return Fail(Code::kInternal, "two nodes compute '{}'", name).Field(name);
    }
    reads.push_back(&own.back());
  }
  const std::vector<size_t> order = Order(reads, producers).Run();
  if (order.size() != reads.size()) return Broken("order of nodes");
  google::protobuf::RepeatedPtrField<onnx_wire::Node> nodes;
  nodes.Swap(graph.mutable_node());
  for (const size_t i : order) {
    if (i >= part.nodes.size()) {
      graph.add_node()->Swap(&nodes[static_cast<int>(i - part.nodes.size())]);
    } else if (!graph.add_node()->ParseFromString(part.nodes[i].bytes)) {
      return Broken(part.nodes[i].name);
    }
  }
  return {};
}

// Types of what nodes compute, in the nodes' order.
void ListTypes(std::unordered_map<std::string, Info> types, onnx_wire::Graph& graph) {
  for (const Info& info : graph.value_info()) types.insert_or_assign(info.name(), info);
  for (const Info& output : graph.output()) types.erase(output.name());
  graph.clear_value_info();
  for (const onnx_wire::Node& node : graph.node()) {
    for (const std::string& result : node.output()) {
      if (const auto type = types.find(result); type != types.end()) {
        *graph.add_value_info() = type->second;
      }
    }
  }
}

}  // namespace

std::vector<std::string> NamesIn(const OpaquePart& part) {
  std::vector<std::string> names;
  for (const OpaqueNode& node : part.nodes) {
    names.insert(names.end(), node.results.begin(), node.results.end());
    names.insert(names.end(), node.inner.begin(), node.inner.end());
  }
  for (const auto& [name, tensor] : part.tensors) names.push_back(name);
  for (const NamedMessage& tensor : part.other_tensors) names.push_back(tensor.name);
  return names;
}

Status PutBackTensors(const OpaquePart& part, ModelWriter& writer) {
  for (const auto& [name, tensor] : part.tensors) {
    if (writer.Has(name)) return Fail(Code::kInternal, "'{}' is written twice", name).Field(name);
    writer.Initializer(name, tensor, ModelWriter::Named::kOpaque);
  }
  for (const NamedMessage& tensor : part.other_tensors) {
    if (!writer.graph().add_initializer()->ParseFromString(tensor.bytes)) {
      return Broken(tensor.name);
    }
  }
  return {};
}

Status PutBackNodes(const OpaquePart& part, onnx_wire::Model& model) {
  onnx_wire::Graph& graph = *model.mutable_graph();
  OCTAVO_CHECK(CheckForms(part, model.opset_import(0).version()));
  OCTAVO_CHECK(CheckFunctionForms(part, model.opset_import(0).version()));
  OCTAVO_CHECK(CheckTypes(part, graph));
  OCTAVO_CHECK(Reorder(part.inputs, part.input_infos, *graph.mutable_input()));
  OCTAVO_TRY(const std::vector<Info> handed,
             Reorder(part.outputs, part.output_infos, *graph.mutable_output()));
  OCTAVO_CHECK(InsertNodes(part, graph));
  std::unordered_map<std::string, Info> types;
  for (const Info& info : handed) types.emplace(info.name(), info);
  for (const NamedMessage& message : part.value_infos) {
    Info info;
    if (!info.ParseFromString(message.bytes)) return Broken(message.name);
    types.emplace(message.name, std::move(info));
  }
  ListTypes(std::move(types), graph);
  for (const std::string& function : part.functions) model.add_functions(function);
  return {};
}

}  // namespace octavo::onnx

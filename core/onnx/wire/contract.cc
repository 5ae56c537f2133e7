// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/contract.h"

#include <algorithm>
#include <set>

#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries ReadEntries(const auto& list) {
  Entries entries;
  for (const onnx_wire::StringEntry& entry : list) entries.emplace_back(entry.key(), entry.value());
  return entries;
}

void WriteEntries(const Entries& entries, auto& list) {
  for (const auto& [key, value] : entries) {
    onnx_wire::StringEntry& entry = *list.Add();
    entry.set_key(key);
    entry.set_value(value);
  }
}

void ReadValue(const onnx_wire::ValueInfo& info, Contract& contract) {
  ValueNotes notes{.doc = info.doc_string(),
                   .denotation = info.type().denotation(),
                   .metadata = ReadEntries(info.metadata_props())};
  bool any = false;
  for (const onnx_wire::Dimension& dim : info.type().tensor_type().shape().dim()) {
    notes.axes.push_back(dim.denotation());
    any |= !dim.denotation().empty();
  }
  if (!any) notes.axes.clear();
  if (any || !notes.doc.empty() || !notes.denotation.empty() || !notes.metadata.empty()) {
    contract.values.insert_or_assign(info.name(), std::move(notes));
  }
}

// An initializer that was a graph input, too, is one no more: its own notes stay.
void ReadInitializer(const onnx_wire::Tensor& tensor, Contract& contract) {
  if (tensor.doc_string().empty() && tensor.metadata_props().empty()) return;
  ValueNotes& notes = contract.values[tensor.name()];
  if (!tensor.doc_string().empty()) notes.doc = tensor.doc_string();
  if (!tensor.metadata_props().empty()) notes.metadata = ReadEntries(tensor.metadata_props());
}

NodeNotes NotesOf(const onnx_wire::Node& node) {
  NodeNotes notes{.doc = node.doc_string(), .metadata = ReadEntries(node.metadata_props())};
  for (const onnx_wire::Attribute& attribute : node.attribute()) {
    if (attribute.doc_string().empty()) continue;
    notes.attribute_docs.emplace(attribute.name(), attribute.doc_string());
  }
  return notes;
}

void WriteNotes(const NodeNotes& notes, onnx_wire::Node& node) {
  if (!notes.doc.empty()) node.set_doc_string(notes.doc);
  WriteEntries(notes.metadata, *node.mutable_metadata_props());
  if (notes.attribute_docs.empty()) return;
  for (onnx_wire::Attribute& attribute : *node.mutable_attribute()) {
    const auto at = notes.attribute_docs.find(attribute.name());
    if (at != notes.attribute_docs.end()) attribute.set_doc_string(at->second);
  }
}

void WriteValue(const Contract& contract, onnx_wire::ValueInfo& info) {
  const auto at = contract.values.find(info.name());
  if (at == contract.values.end()) return;
  WriteEntries(at->second.metadata, *info.mutable_metadata_props());
  const ValueNotes& notes = at->second;
  if (!notes.doc.empty()) info.set_doc_string(notes.doc);
  if (!notes.denotation.empty()) info.mutable_type()->set_denotation(notes.denotation);
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
  const int axes = std::min(dims.size(), static_cast<int>(notes.axes.size()));
  for (int i = 0; i < axes; ++i) {
    const std::string& denotation = notes.axes[static_cast<size_t>(i)];
    if (!denotation.empty()) dims[i].set_denotation(denotation);
  }
}

// Quantization may have replaced the tensors that an annotation names.
void WriteAnnotations(const Contract& contract, onnx_wire::Graph& graph) {
  if (contract.annotations.empty()) return;
  std::set<std::string_view> tensors, values;
  for (const onnx_wire::Tensor& tensor : graph.initializer()) tensors.insert(tensor.name());
  for (const onnx_wire::ValueInfo& input : graph.input()) values.insert(input.name());
  for (const onnx_wire::Node& node : graph.node()) {
    values.insert(node.output().begin(), node.output().end());
  }
  for (const Annotation& annotation : contract.annotations) {
    const auto kept = [&](const auto& parameter) { return tensors.contains(parameter.second); };
    const bool known = values.contains(annotation.tensor) || tensors.contains(annotation.tensor);
    if (!known || !std::ranges::all_of(annotation.parameters, kept)) continue;
    onnx_wire::Annotation& written = *graph.add_quantization_annotation();
    written.set_tensor_name(annotation.tensor);
    WriteEntries(annotation.parameters, *written.mutable_quant_parameter_tensor_names());
  }
}

}  // namespace

Contract ReadContract(const onnx_wire::Model& model, const std::vector<std::string>& names) {
  const onnx_wire::Graph& graph = model.graph();
  Contract contract{.ir_version = model.ir_version(),
                    .domain = model.domain(),
                    .model_version = model.model_version(),
                    .doc = model.doc_string(),
                    .graph_doc = graph.doc_string(),
                    .graph_metadata = ReadEntries(graph.metadata_props())};
  for (const auto* infos : {&graph.value_info(), &graph.input(), &graph.output()}) {
    for (const onnx_wire::ValueInfo& info : *infos) ReadValue(info, contract);
  }
  for (const onnx_wire::Tensor& tensor : graph.initializer()) ReadInitializer(tensor, contract);
  for (const onnx_wire::Annotation& annotation : graph.quantization_annotation()) {
    contract.annotations.push_back(
        {annotation.tensor_name(), ReadEntries(annotation.quant_parameter_tensor_names())});
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx_wire::Node& node = graph.node(i);
    NodeNotes notes = NotesOf(node);
    if (notes.doc.empty() && notes.metadata.empty() && notes.attribute_docs.empty()) continue;
    contract.nodes.insert_or_assign(names[static_cast<size_t>(i)], std::move(notes));
  }
  return contract;
}

void WriteContract(const Contract& contract, onnx_wire::Model& model) {
  onnx_wire::Graph& graph = *model.mutable_graph();
  if (!contract.domain.empty()) model.set_domain(contract.domain);
  if (contract.model_version != 0) model.set_model_version(contract.model_version);
  if (!contract.doc.empty()) model.set_doc_string(contract.doc);
  if (!contract.graph_doc.empty()) graph.set_doc_string(contract.graph_doc);
  WriteEntries(contract.graph_metadata, *graph.mutable_metadata_props());
  for (auto* infos : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (onnx_wire::ValueInfo& info : *infos) WriteValue(contract, info);
  }
  for (onnx_wire::Tensor& tensor : *graph.mutable_initializer()) {
    const auto at = contract.values.find(tensor.name());
    if (at == contract.values.end()) continue;
    if (!at->second.doc.empty()) tensor.set_doc_string(at->second.doc);
    WriteEntries(at->second.metadata, *tensor.mutable_metadata_props());
  }
  WriteAnnotations(contract, graph);
  if (contract.nodes.empty()) return;
  for (onnx_wire::Node& node : *graph.mutable_node()) {
    const auto at = contract.nodes.find(node.name());
    if (at != contract.nodes.end()) WriteNotes(at->second, node);
  }
}

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/contract.h"

#include <algorithm>

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
  ValueNotes notes{.doc = info.doc_string(), .denotation = info.type().denotation()};
  bool any = false;
  for (const onnx_wire::Dimension& dim : info.type().tensor_type().shape().dim()) {
    notes.axes.push_back(dim.denotation());
    any |= !dim.denotation().empty();
  }
  if (!any) notes.axes.clear();
  if (any || !notes.doc.empty() || !notes.denotation.empty()) {
    contract.values.insert_or_assign(info.name(), std::move(notes));
  }
}

void WriteValue(const Contract& contract, onnx_wire::ValueInfo& info) {
  const auto at = contract.values.find(info.name());
  if (at == contract.values.end()) return;
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

}  // namespace

Contract ReadContract(const onnx_wire::Model& model, const std::vector<std::string>& names) {
  const onnx_wire::Graph& graph = model.graph();
  Contract contract{.ir_version = model.ir_version(),
                    .domain = model.domain(),
                    .model_version = model.model_version(),
                    .doc = model.doc_string(),
                    .graph_doc = graph.doc_string(),
                    .graph_metadata = ReadEntries(graph.metadata_props())};
  for (const auto* infos : {&graph.input(), &graph.output()}) {
    for (const onnx_wire::ValueInfo& info : *infos) ReadValue(info, contract);
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx_wire::Node& node = graph.node(i);
    if (node.doc_string().empty() && node.metadata_props().empty()) continue;
    contract.nodes.insert_or_assign(
        names[static_cast<size_t>(i)],
        NodeNotes{.doc = node.doc_string(), .metadata = ReadEntries(node.metadata_props())});
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
  for (auto* infos : {graph.mutable_input(), graph.mutable_output()}) {
    for (onnx_wire::ValueInfo& info : *infos) WriteValue(contract, info);
  }
  if (contract.nodes.empty()) return;
  for (onnx_wire::Node& node : *graph.mutable_node()) {
    const auto at = contract.nodes.find(node.name());
    if (at == contract.nodes.end()) continue;
    if (!at->second.doc.empty()) node.set_doc_string(at->second.doc);
    WriteEntries(at->second.metadata, *node.mutable_metadata_props());
  }
}

}  // namespace octavo::onnx

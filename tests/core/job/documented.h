// SPDX-License-Identifier: Apache-2.0
// Models with every field of documentation that a producer may fill.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/base/blob.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::job {

using Entries = std::map<std::string, std::string>;

inline void AddEntry(auto& list, std::string_view key, std::string_view value) {
  onnx_wire::StringEntry& entry = *list.Add();
  entry.set_key(std::string(key));
  entry.set_value(std::string(value));
}

inline Entries EntriesOf(const auto& list) {
  Entries entries;
  for (const onnx_wire::StringEntry& entry : list) entries[entry.key()] = entry.value();
  return entries;
}

// Documents what nodes compute, and annotates it with parameters that are initializers.
inline void DocumentValues(onnx_wire::Graph& graph) {
  std::set<std::string> known;
  for (const auto* infos : {&graph.value_info(), &graph.output()}) {
    for (const onnx_wire::ValueInfo& info : *infos) known.insert(info.name());
  }
  for (const onnx_wire::Node& node : graph.node()) {
    for (const std::string& result : node.output()) {
      if (known.insert(result).second) graph.add_value_info()->set_name(result);
    }
  }
  for (onnx_wire::ValueInfo& info : *graph.mutable_value_info()) {
    info.set_doc_string("about " + info.name());
    for (const onnx_wire::Tensor& tensor : graph.initializer()) {
      onnx_wire::Annotation& annotation = *graph.add_quantization_annotation();
      annotation.set_tensor_name(info.name());
      AddEntry(*annotation.mutable_quant_parameter_tensor_names(), "SCALE_TENSOR", tensor.name());
    }
  }
}

// Fills every field that a producer may fill.
inline onnx_wire::Model Documented(const Blob& bytes) {
  onnx_wire::Model model;
  EXPECT_TRUE(model.ParseFromString(std::string(bytes.text())));
  model.set_domain("com.example.vision");
  model.set_model_version(7);
  model.set_doc_string("what the model is for");
  AddEntry(*model.mutable_metadata_props(), "author", "somebody");
  onnx_wire::OperatorSet& other = *model.add_opset_import();
  other.set_domain("com.example");
  other.set_version(3);
  onnx_wire::Graph& graph = *model.mutable_graph();
  graph.set_doc_string("what the graph does");
  AddEntry(*graph.mutable_metadata_props(), "layer", "first");
  for (int i = 0; i < graph.node_size(); ++i) {
    onnx_wire::Node& node = *graph.mutable_node(i);
    node.set_doc_string(fmt::format("about node {}", i));
    AddEntry(*node.mutable_metadata_props(), "line", fmt::format("{}", i));
    for (onnx_wire::Attribute& attribute : *node.mutable_attribute()) {
      attribute.set_doc_string("about " + attribute.name());
    }
  }
  for (onnx_wire::Tensor& tensor : *graph.mutable_initializer()) {
    tensor.set_doc_string("about " + tensor.name());
  }
  DocumentValues(graph);
  for (auto* infos : {graph.mutable_input(), graph.mutable_output()}) {
    for (onnx_wire::ValueInfo& info : *infos) {
      info.set_doc_string("about " + info.name());
      info.mutable_type()->set_denotation("TENSOR");
      auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
      if (!dims.empty()) dims[0].set_denotation("DATA_BATCH");
    }
  }
  return model;
}

}  // namespace octavo::job

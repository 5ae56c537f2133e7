// SPDX-License-Identifier: Apache-2.0
// What a model has in addition to its graph: versions, documentation, denotations.  A graph does
// not hold it; import reads it, and export writes it again for what the result still has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace octavo::onnx_wire {
class Model;
}  // namespace octavo::onnx_wire

namespace octavo::onnx {

struct OpaquePart;

// Of a node, by its settled name.
struct NodeNotes {
  std::string doc = {};
  std::map<std::string, std::string> attribute_docs = {};  // by the attribute's name
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// Of a value that the graph declares or an initializer, by its name.
struct ValueNotes {
  std::string doc = {};
  std::string denotation = {};
  std::vector<std::string> axes = {};  // a denotation for each axis; "" for none
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// The names of the tensors that have a tensor's quantization parameters, by the parameter.
struct Annotation {
  std::string tensor = {};
  std::vector<std::pair<std::string, std::string>> parameters = {};
};

struct Contract {
  int64_t ir_version = 0;  // 0: the graph is not from an ONNX model
  std::string domain = {};
  int64_t model_version = 0;
  std::string doc = {}, graph_doc = {};
  std::vector<std::pair<std::string, std::string>> graph_metadata = {};
  std::map<std::string, NodeNotes> nodes = {};
  std::map<std::string, ValueNotes> values = {};
  std::vector<Annotation> annotations = {};
  std::shared_ptr<const OpaquePart> opaque = {};  // opaque_part.h; null: the graph has all nodes
};

// `names`: of the model's nodes, as import settles them.
Contract ReadContract(const onnx_wire::Model& model, const std::vector<std::string>& names);

// Completes a message with the contract, except for the versions; a node or a value that the
// message lacks has no notes any more, and an annotation needs all tensors that it names.
void WriteContract(const Contract& contract, onnx_wire::Model& model);

}  // namespace octavo::onnx

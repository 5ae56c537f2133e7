// SPDX-License-Identifier: Apache-2.0
// Cuts a model in two: the nodes that a graph holds, and the opaque part.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/import/importer.h"
#include "core/onnx/wire/opaque_part.h"
#include "core/onnx/wire/raw_model.h"

namespace octavo::onnx {

class Cutter {
 public:
  // All arguments must outlive the cutter.
  Cutter(const Blob& bytes, const ModelProto& proto, const ImportOptions& options)
      : bytes_(bytes), proto_(proto), options_(options) {}

  // Reads what the model's messages leave out, and leaves out nodes whose operators are unknown.
  Status Begin();
  // Leaves out the nodes; whether it did not before.
  bool Leave(const std::vector<Refused>& refused);
  // Whether no node and no input is left out.
  bool Whole() const;
  // The model without what is left out.  kInvalidArgument for an array that does not fit a value.
  Result<onnx_wire::Model> Rest();
  // What is left out of the last Rest.
  Result<OpaquePart> Part() const;
  // Values inside of the nodes that are left out, and initializers that only they read.
  std::vector<std::string> InnerNames() const;
  // The names of results of nodes that are left out.
  std::vector<std::string> LostNames() const;

 private:
  struct Left {
    bool out = false;
    bool follows = false;
    std::string reason = {};
  };

  const onnx_wire::Graph& graph() const { return proto_.model.graph(); }
  Status SortAll();
  void LeaveUnknown();
  // Decides which nodes follow those that are left out, and which values are held.
  Status Follow();
  bool IsLost(const std::string& name) const { return lost_.contains(name); }
  Status Hold(const std::string& name);
  Status AddRest(onnx_wire::Graph& rest);
  Status AddHanded(onnx_wire::Graph& rest);
  Status AddNodes(OpaquePart& part) const;
  Status AddTensors(OpaquePart& part) const;
  void AddInterface(OpaquePart& part) const;
  Status AddTypes(OpaquePart& part) const;
  // The declared type of a node's result, or the one that ONNX defines.
  onnx_wire::ValueInfo TypeOf(size_t node, const std::string& name) const;
  std::vector<std::string> ReadsOf(size_t node) const;

  const Blob& bytes_;
  const ModelProto& proto_;
  const ImportOptions& options_;
  RawModel raw_ = {};
  std::vector<std::string> names_ = {};
  std::vector<Subgraphs> subgraphs_ = {};
  std::vector<int> order_ = {};
  std::vector<Left> left_ = {};
  std::unordered_map<std::string, size_t> node_of_ = {};                     // by settled name
  std::unordered_map<std::string, size_t> producer_ = {};                    // of results
  std::unordered_map<std::string, const onnx_wire::ValueInfo*> infos_ = {};  // declared types
  std::unordered_set<std::string> other_inputs_ = {};       // inputs that no graph holds
  std::unordered_map<std::string, std::string> lost_ = {};  // values, and the node to blame
  std::map<std::string, onnx_wire::ValueInfo> held_ = {};
  std::vector<std::string> handed_ = {};
  std::unordered_set<std::string> kept_tensors_ = {};  // initializers of the rest
};

}  // namespace octavo::onnx

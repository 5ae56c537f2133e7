// SPDX-License-Identifier: Apache-2.0
// The model message under construction: nodes, and initializers in the order of their first use.
#pragma once

#include <unordered_set>

#include "core/onnx/export/export.h"
#include "core/onnx/versions/draft.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {

class ModelWriter {
 public:
  onnx_wire::Model& model() { return model_; }
  onnx_wire::Graph& graph() { return *model_.mutable_graph(); }

  // Whether the name of an initializer is that of a value, by which users of the model know it, or
  // one that only the exported model has (stored integers, scales, zero points).
  enum class Named { kValue, kInternal };

  // Adds an initializer unless there is one of that name.
  void Initializer(const std::string& name, const ir::Tensor& tensor, Named named);
  // `inputs` and `outputs` are names, "" for an absent one.
  void Node(const std::string& name, const std::string& op, const std::string& domain,
            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const ir::AttrMap& attributes);

  // Completes the message with the constant data, inside or in the external file.
  Result<Exported> Finish(const ExportOptions& options);

 private:
  struct Stored {
    std::string name = {};
    ir::Tensor tensor = {};
    Named named = Named::kValue;
  };

  // Stores the first of equal tensors.  Consumers of another one read the first, or an Identity of
  // it if the other has the name of a value.
  void ShareEqual();
  // Puts Identity nodes (result, operand) in front of all others.
  void AddIdentities(const std::vector<std::pair<std::string, std::string>>& identities);

  onnx_wire::Model model_;
  std::vector<Stored> initializers_;
  std::unordered_set<std::string> initialized_;
};

// Fills in an input or output of a graph.
void WriteValueInfo(const std::string& name, const ir::Type& type, onnx_wire::ValueInfo& info);

}  // namespace octavo::onnx

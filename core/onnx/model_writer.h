// The model message under construction: nodes, and initializers in the order of their first use.
#pragma once

#include <unordered_set>

#include "core/onnx/draft.h"
#include "core/onnx/export.h"
#include "core/onnx/proto/onnx.pb.h"

namespace octavo::onnx {

class ModelWriter {
 public:
  onnx_wire::Model& model() { return model_; }
  onnx_wire::Graph& graph() { return *model_.mutable_graph(); }

  // Whose name an initializer has: a value's, which readers of the model may ask for, or one that
  // only the exported form needs (codes, scales, zero points).
  enum class Named { kValue, kForm };

  // Adds an initializer unless there is one of that name.
  void Initializer(const std::string& name, const ir::Tensor& tensor, Named named);
  // `inputs` and `outputs` are names, "" for an absent one.
  void Node(const std::string& name, const std::string& op, const std::string& domain,
            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const ir::AttrMap& attributes);

  // Ends the message with the payloads, inside or outside.
  Result<Exported> Finish(const ExportOptions& options);

 private:
  struct Stored {
    std::string name = {};
    ir::Tensor tensor = {};
    Named named = Named::kValue;
  };

  // Of equal tensors the first is stored.  Readers of another read that one, or its Identity where
  // the other's name is a value's.
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

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

  // Adds an initializer unless there is one of that name.
  void Initializer(const std::string& name, const ir::Tensor& tensor);
  // `inputs` and `outputs` are names, "" for an absent one.
  void Node(const std::string& name, const std::string& op, const std::string& domain,
            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const ir::AttrMap& attributes);

  // Ends the message with the payloads, inside or outside.
  Result<Exported> Finish(const ExportOptions& options);

 private:
  // Of equal codes the first are stored, and all their readers read those.
  void ShareEqualCodes();

  onnx_wire::Model model_;
  std::vector<std::pair<std::string, ir::Tensor>> initializers_;
  std::unordered_set<std::string> initialized_;
};

// Fills in an input or output of a graph.
void WriteValueInfo(const std::string& name, const ir::Type& type, onnx_wire::ValueInfo& info);

}  // namespace octavo::onnx

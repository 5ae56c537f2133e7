// SPDX-License-Identifier: Apache-2.0
// The model message under construction: nodes, and initializers in order of first use.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/onnx/export/export.h"
#include "core/onnx/versions/draft.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {

class ModelWriter {
 public:
  onnx_wire::Model& model() { return model_; }
  onnx_wire::Graph& graph() { return *model_.mutable_graph(); }

  // The kind of an initializer's name: the name of a value, which users of the model know, or an
  // internal name that exists only in the exported model (stored integers, scales, zero points).
  // The kind kOpaque is of a tensor that other nodes read than the graph's: it stays as it is.
  enum class Named { kValue, kInternal, kOpaque };

  // Adds an initializer unless one of that name exists.
  void Initializer(const std::string& name, const ir::Tensor& tensor, Named named);
  // `inputs` and `outputs` are names; "" marks an absent one.
  void Node(const std::string& name, const std::string& op, const std::string& domain,
            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const ir::AttrMap& attributes);
  bool Has(const std::string& initializer) const { return initialized_.contains(initializer); }
  // The type of a tensor that a node computes, for the message's value_info.
  void Typed(const std::string& name, ir::Type type) { types_.insert_or_assign(name, type); }

  // Takes the types of another writer, which has the same graph at another size.  The name of the
  // first node or initializer in which they differ; nullopt: in none.
  std::optional<std::string> AddSize(ModelWriter other);

  // Completes the message with the constant data, inside the model or in the external file.
  Result<Exported> Finish(const ExportOptions& options);

 private:
  struct Stored {
    std::string name = {};
    ir::Tensor tensor = {};
    Named named = Named::kValue;
  };

  // Stores only the first of several equal tensors.  Consumers of the others use the first instead;
  // if another one has the name of a value, an Identity of the first keeps that name.
  void ShareEqual();
  // Inserts Identity nodes (result, operand) before all other nodes.
  void AddIdentities(const std::vector<std::pair<std::string, std::string>>& identities);
  // Lists the types of what the nodes compute, in their order; graph outputs have their own list.
  void AddValueInfo();
  // Writes extents that differ between the sizes as symbols.
  void OpenDimensions(const OpenSizes& open, onnx_wire::ValueInfo& info) const;

  onnx_wire::Model model_;
  std::vector<Stored> initializers_;
  std::unordered_set<std::string> initialized_;
  using Types = std::unordered_map<std::string, ir::Type>;
  Types types_;
  std::vector<Types> sized_types_;  // of the other sizes
};

// Fills in an input or output of a graph message.
void WriteValueInfo(const std::string& name, const ir::Type& type, onnx_wire::ValueInfo& info);

}  // namespace octavo::onnx

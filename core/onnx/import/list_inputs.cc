// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/list_inputs.h"

#include <unordered_set>

#include "core/onnx/wire/model_proto.h"

namespace octavo::onnx {

Result<std::vector<std::string>> ListInputs(const Blob& model) {
  OCTAVO_TRY(const ModelProto proto, ParseModel(model));
  const onnx_wire::Graph& graph = proto.model.graph();
  std::unordered_set<std::string_view> initializers;
  for (const onnx_wire::Tensor& tensor : graph.initializer()) initializers.insert(tensor.name());
  std::vector<std::string> names;
  for (const onnx_wire::ValueInfo& input : graph.input()) {
    if (!initializers.count(input.name())) names.push_back(input.name());
  }
  return names;
}

}  // namespace octavo::onnx

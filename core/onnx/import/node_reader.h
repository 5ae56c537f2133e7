// SPDX-License-Identifier: Apache-2.0
// The nodes of a model as drafts: named, with attributes, in topological order.
#pragma once

#include <unordered_set>

#include "core/onnx/versions/draft.h"
#include "core/onnx/wire/model_proto.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {

// kUnimplemented names the node for subgraphs (control flow), sparse tensors and types.
Result<ir::AttrMap> ReadAttributes(const onnx_wire::Node& node, std::string_view name,
                                   const TensorSource& source);

// The name of each node: an empty one becomes the first output's, a repeat gets _1, _2.
std::vector<std::string> SettleNames(const onnx_wire::Graph& graph);

// The order in which nodes can be computed, keeping the model's where it may.  `known` has inputs
// and initializers.  kInvalidArgument for a value that is defined twice or nowhere, and for a
// cycle, naming it.
Result<std::vector<int>> SortNodes(const onnx_wire::Graph& graph,
                                   const std::vector<std::string>& names,
                                   const std::unordered_set<std::string>& known);

}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
// The nodes of a model as drafts: named, with attributes, in topological order.
#pragma once

#include <unordered_set>

#include "core/onnx/versions/draft.h"
#include "core/onnx/wire/model_proto.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {

// kUnimplemented, with the node's name, for subgraphs (control flow), sparse tensors and types.
Result<ir::AttrMap> ReadAttributes(const onnx_wire::Node& node, std::string_view name,
                                   const TensorSource& source);

// The tensor of a Constant node; several attributes can hold it.
Result<ir::Tensor> ConstantValue(const Draft& draft);

// The name of each node: an empty name becomes that of the first output, a repeated one gets _1,
// _2.
std::vector<std::string> SettleNames(const onnx_wire::Graph& graph);

// A topological order of the nodes that keeps the model's order where possible.  `known` has inputs
// and initializers.  kInvalidArgument, with the name, for a value that is defined twice or not at
// all, and for a cycle.
Result<std::vector<int>> SortNodes(const onnx_wire::Graph& graph,
                                   const std::vector<std::string>& names,
                                   const std::unordered_set<std::string>& known);

}  // namespace octavo::onnx

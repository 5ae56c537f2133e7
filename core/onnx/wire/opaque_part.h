// SPDX-License-Identifier: Apache-2.0
// The part of a model that no graph holds: nodes that Octavo cannot read, nodes that follow them
// without known values, and what only those read.  Import takes it out of the model, export puts it
// back as it was.  Values pass between the part and the graph by name: what the part reads of the
// graph is a graph output, and a result of the part whose values are known is a graph input.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/tensor.h"

namespace octavo::onnx {

struct OpaqueNode {
  std::string name = {};  // settled
  std::string op = {};
  std::string domain = {};
  std::string reason = {};
  bool follows = false;    // Octavo knows the operator, but not the values that it reads
  std::string bytes = {};  // the NodeProto
  std::vector<std::string> reads = {};    // operands, and what its subgraphs take from outside
  std::vector<std::string> results = {};  // without absent ones
  std::vector<std::string> inner = {};    // values of its subgraphs
  // Operators of ONNX's domain in the node: itself, and those of its subgraphs.
  std::vector<std::string> own_ops = {};
};

// A serialized message and the name in it.
struct NamedMessage {
  std::string name = {};
  std::string bytes = {};
};

// The type of a result, as far as the model, ONNX or --shape give it.
struct OpaqueType {
  std::string elements = {};                             // "f32"; empty: unknown
  std::optional<std::vector<std::string>> extents = {};  // a number, a symbol or "?"
};

struct OpaquePart {
  std::vector<OpaqueNode> nodes = {};                            // in topological order
  std::vector<std::pair<std::string, ir::Tensor>> tensors = {};  // that only these nodes read
  std::vector<NamedMessage> other_tensors = {};                  // of types that no graph holds
  std::vector<std::string> functions = {};                       // the model's local functions
  // All inputs and outputs of the model, in its order; the messages of those that the graph lacks.
  std::vector<std::string> inputs = {}, outputs = {};
  std::map<std::string, std::string> input_infos = {}, output_infos = {};
  std::vector<NamedMessage> value_infos = {};  // of what the nodes compute
  std::vector<std::string> held = {};          // results of the nodes that are graph inputs
  std::vector<std::string> handed = {};        // graph outputs that only the nodes read
  // The ONNX element types in which the nodes read values of the graph.
  std::map<std::string, int> read_types = {};
  std::map<std::string, OpaqueType> types = {};  // of the nodes' results
  int64_t opset = 0;                             // of ONNX's domain, in which the nodes are written
};

}  // namespace octavo::onnx

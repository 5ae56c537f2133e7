// SPDX-License-Identifier: Apache-2.0
// A serialized model's parts as the file has them: for nodes that are written back unchanged,
// whatever fields they have.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/base/status.h"

namespace octavo::onnx {

// Serialized messages, in the model's order.
struct RawModel {
  std::vector<Blob> nodes = {}, initializers = {}, inputs = {}, outputs = {}, value_infos = {};
  std::vector<Blob> functions = {};
};
// kInvalidArgument (reason MALFORMED) for bytes that are no model.
Result<RawModel> SplitModel(const Blob& model);

// What a node's subgraphs are to the graph around them.
struct Subgraphs {
  std::string attribute = {};              // the first that holds one; empty: there is none
  std::vector<std::string> captured = {};  // values of the graph outside, each once
  std::vector<std::string> defined = {};   // values of their own
  std::vector<std::string> own_ops = {};   // operators of ONNX's domain, each once
  bool external = false;                   // the node keeps elements in an external file
};

struct SubgraphLimits {
  int depth = 32;             // subgraphs within subgraphs
  int64_t fields = 16 << 20;  // in all of them
};

// Reads a serialized node.  Time and memory are linear in its bytes.  kInvalidArgument (reason
// MALFORMED) for wrong bytes and for deeper nesting, kTooLarge for more fields.
Result<Subgraphs> ReadSubgraphs(const Blob& node, const SubgraphLimits& limits = {});

}  // namespace octavo::onnx

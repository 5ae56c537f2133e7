// SPDX-License-Identifier: Apache-2.0
// Imports a parsed model; for this folder.
#pragma once

#include <vector>

#include "core/onnx/import/import.h"
#include "core/onnx/wire/model_proto.h"

namespace octavo::onnx {

// A node that a graph cannot hold, and why.
struct Refused {
  std::string node = {};
  Error error = {};
};

// With `refused`, kUnimplemented of a node ends nothing: all such nodes are listed, in order, and
// if there are any, the result is of no use.  Nodes that read their results are left out, unlisted.
Result<Imported> ImportParsed(const ModelProto& proto, const ImportOptions& options,
                              std::vector<Refused>* refused);

// The same for a model with nodes that no graph holds: they become the opaque part of its contract.
// `bytes` are the model's.
Result<Imported> ImportAround(const Blob& bytes, ModelProto proto, const ImportOptions& options);

}  // namespace octavo::onnx

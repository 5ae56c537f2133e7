// SPDX-License-Identifier: Apache-2.0
// Octavo's own serialized graph: the message octavo.v1.Graph, at any stage of the pipeline.  The
// elements of constants stand behind everything else; they are read as views into the given bytes
// and never pass through libprotobuf.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/blob.h"
#include "core/ir/graph.h"

namespace octavo::native {

// The row of an op, null if there is none.  The domain is "" for ONNX's own.
using OpLookup = std::function<const ir::OpDef*(std::string_view name, std::string_view domain)>;

// Whether the bytes are a graph of this form: an ONNX model, the only other message that a model
// comes as, has a number where a graph has the names of its outputs.
bool IsGraph(const Blob& bytes);

// A graph whose declared types are those that its ops infer and that ir::Verify accepts.
// kInvalidArgument naming the field, value or node; kUnimplemented for an op that the lookup does
// not know; kTooLarge for a graph of more than 1 GiB without its constant data.
Result<ir::Graph> Read(const Blob& bytes, const OpLookup& find_op);

// Equal graphs give equal bytes.  Equal constant data are written once.
std::string Write(const ir::Graph& graph);

}  // namespace octavo::native

// SPDX-License-Identifier: Apache-2.0
// Puts the opaque part of a model back into the message of its graph.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/onnx/export/model_writer.h"
#include "core/onnx/wire/opaque_part.h"

namespace octavo::onnx {

// Names of tensors that the part brings along and that are no values of the graph.
std::vector<std::string> NamesIn(const OpaquePart& part);

Status PutBackTensors(const OpaquePart& part, ModelWriter& writer);

// Inserts the nodes in topological order, and makes inputs and outputs those of the model again.
// kUnimplemented names the node whose form the message's opset changed, or that reads a value in
// another type than the graph has it now.
Status PutBackNodes(const OpaquePart& part, onnx_wire::Model& model);

}  // namespace octavo::onnx

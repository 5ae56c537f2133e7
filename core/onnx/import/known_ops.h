// SPDX-License-Identifier: Apache-2.0
// Which operators import reads, before it reads any.
#pragma once

#include "core/onnx/import/import.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {

// Whether import has a reading of the operator, in some opset; a node of it may still be refused.
bool IsKnownOp(const onnx_wire::Node& node, const OpFinder& find_op);

// Whether the attribute is a number, a string, a tensor or a list of them: no subgraph, no type.
bool HasPlainKind(const onnx_wire::Attribute& attribute);

}  // namespace octavo::onnx

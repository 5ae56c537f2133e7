// SPDX-License-Identifier: Apache-2.0
// Types of results of nodes that a graph does not hold.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "core/ir/type.h"
#include "core/onnx/wire/onnx.pb.h"
#include "core/onnx/wire/opaque_part.h"

namespace octavo::onnx {

// The type that ONNX defines for result `name` of the node, as far as it follows from the node
// alone; without an element type if it does not.  `raw` is the serialized node.
onnx_wire::ValueInfo InferredInfo(const onnx_wire::Node& node, const Blob& raw,
                                  const std::string& name);

// Gives the open extents of a type these numbers.  kUsage if it has others, or another rank.
Status BindInfo(const ir::Shape& shape, onnx_wire::ValueInfo& info);

OpaqueType DescribedType(const onnx_wire::ValueInfo& info);

// The value as an input of a graph: the declared type, whose open extents `shapes` (--shape) or the
// array give.  nullopt if it is no tensor that a graph can hold; kInvalidArgument if the array has
// too few or too many axes: its leading one counts samples, and a value whose own leading axis is
// the batch may share it.
Result<std::optional<onnx_wire::ValueInfo>> HeldInfo(
    const std::string& name, const onnx_wire::ValueInfo& declared, const ir::Type& array,
    const std::map<std::string, ir::Shape>& shapes);

}  // namespace octavo::onnx

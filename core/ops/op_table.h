// All operators that Octavo knows.  Adding one is its own file plus one line in the list of
// op_table_compute.cc (arithmetic) or op_table_data.cc (movement, shapes, logic).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/ir/op_def.h"

namespace octavo::ops {

// Sorted by domain, then name.
std::span<const ir::OpDef* const> AllOps();
// Null for an unknown op.  "ai.onnx" is the same domain as "".
const ir::OpDef* FindOp(std::string_view name, std::string_view domain = "");

// The two lists that AllOps joins.
std::span<const ir::OpDef* const> ComputeOps();
std::span<const ir::OpDef* const> DataOps();

}  // namespace octavo::ops

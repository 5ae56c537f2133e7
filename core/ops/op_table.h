// SPDX-License-Identifier: Apache-2.0
// The table of all operators in Octavo.
#pragma once

#include <span>
#include <string_view>

#include "core/ir/op_def.h"

namespace octavo::ops {

// Sorted by domain, then name.
std::span<const ir::OpDef* const> AllOps();
// Null for an unknown op.  "ai.onnx" is the same domain as "".
const ir::OpDef* FindOp(std::string_view name, std::string_view domain = "");

}  // namespace octavo::ops

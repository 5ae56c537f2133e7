// SPDX-License-Identifier: Apache-2.0
// Types of the tensors that only an exported model has: results of the operators that a conversion
// writes in front of a node.
#pragma once

#include <optional>
#include <unordered_map>

#include "core/onnx/versions/draft.h"

namespace octavo::onnx {

using LocalTypes = std::unordered_map<std::string, ir::Type>;

// The type of a draft's only result, as written at the opset.  `locals` has those of the drafts
// before it.  nullopt where the newest version of the operator, by which types are inferred, takes
// more than one operator.
std::optional<ir::Type> TypeOfResult(const ir::Graph& graph, int64_t opset, const Draft& draft,
                                     const LocalTypes& locals);

}  // namespace octavo::onnx

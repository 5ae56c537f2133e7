// SPDX-License-Identifier: Apache-2.0
// Constants that no model may have.
#pragma once

#include <functional>
#include <string>

#include "core/ir/graph.h"

namespace octavo::onnx {

// A NaN in a constant, or an infinity in a weight, makes the model invalid.  Infinity is valid as
// a bound, a padding value or the neutral element of a Max: in parameters, and as the only
// element of an operand other than a weight.  Constants without consumers are not checked, nor are
// those that `is_data` names.  `part`: the graph is a part of a model, so that an output may be
// read outside.
Status CheckConstants(const ir::Graph& graph,
                      const std::function<bool(const std::string& name)>& is_data, bool part);

}  // namespace octavo::onnx

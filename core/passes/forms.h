// The written-out forms that `recognize` knows.  Each matcher looks at the node that computes the
// form's result; it changes nothing but for adding constants, and that only where it matches.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

// The operands and attributes of the op that says the same.
struct Form {
  std::vector<ir::ValueId> inputs = {};
  ir::AttrMap attributes = {};
};

std::optional<Form> MatchGelu(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchGeluTanh(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchHardSwish(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchLayerNorm(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchSoftmax(ir::Graph& graph, ir::NodeId last);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Ops that a model writes out in small ones.  Each matcher looks at the node that computes the
// result; it changes nothing but for adding constants, and that only where it matches.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// The operands and attributes of the op that says the same.
struct Form {
  std::vector<ir::ValueId> inputs = {};
  ir::AttrMap attributes = {};
};

std::optional<Form> MatchGelu(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchGeluTanh(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchHardSigmoid(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchHardSwish(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchL2Norm(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchLayerNorm(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchRmsNorm(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchSoftmax(ir::Graph& graph, ir::NodeId last);
std::optional<Form> MatchSwish(ir::Graph& graph, ir::NodeId last);

struct Pattern {
  std::string_view rule = {};  // id of its rule in the pass `recognize`
  std::string_view op = {};
  std::optional<Form> (*match)(ir::Graph& graph, ir::NodeId last) = nullptr;
};

// All of them; one that another contains stands behind it.
std::span<const Pattern> AllPatterns();

// The nodes of the form: the last one, and those between it and its first operand.
std::vector<ir::NodeId> NodesOf(const ir::Graph& graph, ir::NodeId last, ir::ValueId x);

// Makes the last node of a form the op that says the same, with the origins of all its nodes.
// What only the form read is dead then and still there.
void Apply(ir::Graph& graph, ir::NodeId last, const Pattern& pattern, Form form);

}  // namespace octavo::patterns

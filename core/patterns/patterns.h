// SPDX-License-Identifier: Apache-2.0
// Patterns of ops that a model decomposes into small ones.  Each matcher starts at the node that
// computes the result; it changes nothing, except that it adds constants if it matches.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// The operands and attributes of the equivalent op.
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

// All patterns; one that is contained in another comes after it.
std::span<const Pattern> AllPatterns();

// The nodes of the form: the last one, and those between it and its first operand.
std::vector<ir::NodeId> NodesOf(const ir::Graph& graph, ir::NodeId last, ir::ValueId x);

// Replaces the last node of a form by the equivalent op, with the origins of all its nodes.  The
// other nodes lose their consumers but are not erased.
void Apply(ir::Graph& graph, ir::NodeId last, const Pattern& pattern, Form form);

}  // namespace octavo::patterns

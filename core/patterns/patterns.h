// SPDX-License-Identifier: Apache-2.0
// Recognizes ops that a model decomposes into smaller ones.  Each matcher starts at the node that
// computes the result.  It changes nothing except that, on a match, it may add constants.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// The operands and attributes of the equivalent single op.
struct Form {
  std::vector<ir::ValueId> inputs = {};
  ir::AttrMap attributes = {};
  // The order of the first operand's axes in which the op computes; empty: their own.
  std::vector<int64_t> order = {};
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
std::optional<Form> MatchTwoMomentNorm(ir::Graph& graph, ir::NodeId last);

struct Pattern {
  std::string_view rule = {};  // the rule's id in the pass `recognize`
  std::string_view op = {};
  std::optional<Form> (*match)(ir::Graph& graph, ir::NodeId last) = nullptr;
};

// All patterns; a pattern comes after those that contain it.
std::span<const Pattern> AllPatterns();

// The nodes of the matched subgraph: the last one, and those between it and its first operand.
std::vector<ir::NodeId> NodesOf(const ir::Graph& graph, ir::NodeId last, ir::ValueId x);

// Replaces the last node of a match by the equivalent op and gives it the origins of all matched
// nodes; around an op that computes in another order of axes, Transposes.  Nodes that only the
// match used become dead; Apply does not erase them.
void Apply(ir::Graph& graph, ir::NodeId last, const Pattern& pattern, Form form);

}  // namespace octavo::patterns

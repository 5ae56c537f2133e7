// Decides what the quantize pass will do, without touching the graph: which nodes compute in
// integers, and which type every value then has.  Values that an op keeps in one type (Reshape,
// MaxPool, the branches of a Concat) form groups that share their parameters, so that no Rescale
// arises where a producer is free to give the right type at once.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

struct QuantizePlan {
  std::vector<bool> integer = {};                            // by node
  std::vector<std::optional<ir::Type>> types = {};           // by value: its type as codes
  std::unordered_map<ir::NodeId, std::string> reasons = {};  // why a node of reals stays float
  std::vector<bool> weights_only = {};                       // by node: float, but its weights

  // Nodes that were added after the plan was made compute nothing.
  bool IsInteger(ir::NodeId id) const {
    return static_cast<size_t>(id.index) < integer.size() && integer[id.index];
  }
  bool IsWeightsOnly(ir::NodeId id) const {
    return static_cast<size_t>(id.index) < weights_only.size() && weights_only[id.index];
  }
};

// Whether a list of --keep-float or --weights-only names the node, its op, one of its results, or a
// node of the model that it came from.
bool IsNamedBy(const std::vector<std::string>& names, const ir::Graph& graph, const ir::Node& node);

Result<QuantizePlan> PlanQuantization(const ir::Graph& graph, Context& context);

// Whether the node reads or computes reals in float; the borders of the integers do not count.
bool IsFloatNode(const ir::Graph& graph, const ir::Node& node);

// Whether an input is a weight of reals that is known ahead of any run.
bool IsConstantWeight(const ir::Graph& graph, const ir::Node& node, size_t input);

// Whether an input is reals that the node would take as codes.
bool IsRealOperand(const ir::Graph& graph, const ir::Node& node, size_t input);

}  // namespace octavo::passes

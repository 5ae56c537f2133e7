// SPDX-License-Identifier: Apache-2.0
// Decides what the quantize pass will do, without changing the graph: which nodes are quantized,
// and the type of every value.  A same-scale op (Reshape, MaxPool, a Concat) puts its operands and
// results into one group; a group shares parameters, so that no Rescale is needed if each producer
// can directly compute the right type.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/passes/pass.h"
#include "core/passes/quantize/float_choice.h"

namespace octavo::passes {

struct QuantizePlan {
  std::vector<bool> integer = {};                            // by node
  std::vector<std::optional<ir::Type>> types = {};           // by value: its quantized type
  std::unordered_map<ir::NodeId, std::string> reasons = {};  // why a node stays float
  std::vector<bool> weights_only = {};                       // by node: quantize only its weights
  std::vector<bool> float_result = {};  // by integer node: a product that dequantizes its sums

  // Nodes added after planning are Quantize, Dequantize or Rescale.
  bool IsInteger(ir::NodeId id) const {
    return static_cast<size_t>(id.index) < integer.size() && integer[id.index];
  }
  bool HasFloatResult(ir::NodeId id) const {
    return static_cast<size_t>(id.index) < float_result.size() && float_result[id.index];
  }
  bool IsWeightsOnly(ir::NodeId id) const {
    return static_cast<size_t>(id.index) < weights_only.size() && weights_only[id.index];
  }
};

// Whether `names` (of --weights-only), of which each may be a pattern as in core/base/glob.h,
// contains the node, its op, one of its results, or an original node of the model that it computes.
bool IsNamedBy(const std::vector<std::string>& names, const ir::Graph& graph, const ir::Node& node);

Result<QuantizePlan> PlanQuantization(const ir::Graph& graph, const FloatChoice& choice,
                                      Context& context);

// Whether the node consumes or computes real values in float; Quantize and Dequantize do not count.
bool IsFloatNode(const ir::Graph& graph, const ir::Node& node);

// Whether an input is a constant float weight.
bool IsConstantWeight(const ir::Graph& graph, const ir::Node& node, size_t input);

// Whether a node that the plan makes integer reads the value as a real operand.
bool HasIntegerConsumer(const ir::Graph& graph, const QuantizePlan& plan, ir::ValueId value);

// Whether an input is a real value (float or quantized) that the node would use in quantized form.
bool IsRealOperand(const ir::Graph& graph, const ir::Node& node, size_t input);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "core/job/survey.h"

#include <algorithm>
#include <unordered_map>

#include "core/ir/output_channels.h"
#include "core/passes/analysis/order.h"
#include "core/passes/rescale/absorb.h"

namespace octavo::job {

using ir::Graph;
using ir::Node;
using ir::NodeId;

namespace {

// One between equal types, which gives an output a name of its own, converts nothing.
bool Converts(const Graph& graph, const Node& node) {
  return passes::IsRescale(node) &&
         !graph.type(node.input(0)).SameQuantization(graph.type(node.result()));
}

}  // namespace

RescaleFigures CountRescales(const Graph& graph) {
  RescaleFigures figures;
  for (const NodeId id : graph.nodes()) {
    if (!Converts(graph, graph.node(id))) continue;
    ++figures.count;
    figures.elements += graph.type(graph.node(id).result()).elements();
  }
  return figures;
}

std::vector<passes::FloatNode> FloatNodes(const Graph& graph, const passes::Findings& findings) {
  std::vector<passes::FloatNode> list;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->domain == "octavo" || ir::DequantizesSums(graph, node)) continue;
    bool computes_float = false;
    for (const ir::ValueId result : node.results) {
      computes_float |= graph.type(result).dtype == ir::DType::kF32;
    }
    if (!computes_float) continue;
    const auto reason = findings.float_reasons.find(node.name);
    list.push_back({.node = node.name,
                    .op = std::string(node.op->name),
                    .reason = reason == findings.float_reasons.end()
                                  ? "the model computes it in float"
                                  : reason->second});
  }
  return list;
}

const Node* WithoutMeaning(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->definition == nullptr && node.op->domain != "octavo") return &node;
  }
  return nullptr;
}

std::vector<passes::Kept> KeptRescales(const Graph& graph, const passes::Findings& findings) {
  std::unordered_map<std::string_view, const passes::Kept*> reasons;
  for (const passes::Kept& kept : findings.kept) reasons[kept.node] = &kept;
  std::vector<passes::Kept> list;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!Converts(graph, node)) continue;
    const auto at = reasons.find(node.name);
    list.push_back({.node = node.name,
                    .reason = at == reasons.end() ? "no pass considered it" : at->second->reason});
  }
  return list;
}

void WarnOfQuantizedEqual(const Graph& graph, std::vector<passes::Warning>& warnings) {
  const auto computed = [&](ir::ValueId operand) {
    const ir::ValueId source = passes::SourceOf(graph, operand);
    const Node* producer = graph.Producer(source);
    const bool constant = graph.IsConstant(
        producer && producer->op->domain == "octavo" ? producer->input(0) : source);
    const ir::Type& type = graph.type(source);
    return !constant && type.quantized() && ir::SizeOf(type.dtype) == 1;
  };
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!passes::TestsEquality(node) || !std::ranges::all_of(node.inputs, computed)) continue;
    warnings.push_back(
        {.code = "equal_of_quantized",
         .message = fmt::format("{} '{}' compares two values of 8 bits: rounding decides which of "
                                "their elements are equal",
                                node.op->name, node.name),
         .node = node.name});
  }
}

ProfileFigures MatchProfile(const Graph& graph, const profile::Profile& profile) {
  ProfileFigures figures;
  for (const auto& [name, entry] : profile.values) {
    if (graph.Knows(name)) {
      ++figures.matched;
    } else {
      figures.unmatched_entries.push_back(name);
    }
  }
  return figures;
}

bool Quantizes(const Options& options, const ir::Graph& graph) {
  return !options.no_quantize && !HasQuantizedValues(graph) && HasFloatValues(graph);
}

bool HasQuantizedValues(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased && value.type.quantized()) return true;
  }
  return false;
}

bool HasFloatValues(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased && !value.constant && value.type.dtype == ir::DType::kF32) return true;
  }
  return false;
}

}  // namespace octavo::job

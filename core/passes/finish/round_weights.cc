// SPDX-License-Identifier: Apache-2.0
// Rounds weights by what they compute, and corrects biases by the mean of the error: with the
// moments of the calibration run (core/profile/moments.h).  All scales are final, and weights are
// still pending.  Weights that change get their integers here; where a bias overflows, they stay
// pending, since specialize-bias raises scales: a chosen integer then replaces the float weight by
// the real value that it stands for.
#include <algorithm>
#include <map>

#include "core/options/option_words.h"
#include "core/passes/finish/block_rounder.h"
#include "core/passes/finish/layer_bias.h"
#include "core/passes/finish/weight_rounder.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using profile::Layer;
using profile::LayerMoments;

constexpr Rule kRules[] = {kDescent, kBias, kErrorFeedback};

std::vector<SharedWeight> WeightsOf(const Graph& graph) {
  std::vector<SharedWeight> weights;
  std::map<int32_t, size_t> places;
  for (const NodeId id : graph.nodes()) {
    const std::optional<Layer> layer = profile::LayerOf(graph, id);
    if (!layer) continue;
    ir::ValueId pending = PendingBlocks(graph, layer->weight);
    if (!pending && graph.type(layer->data).quantized() &&
        IsOwn(graph.Producer(layer->weight), "Quantize")) {
      pending = layer->weight;
    }
    if (!pending) continue;  // already rounded, or float
    const auto [at, added] = places.emplace(pending.index, weights.size());
    if (added) weights.push_back({.value = pending});
    weights[at->second].layers.push_back(*layer);
  }
  return weights;
}

bool SameColumns(const Layer& a, const Layer& b) {
  return a.groups == b.groups && a.terms == b.terms && a.channels == b.channels && a.unit == b.unit;
}

// The moments of a layer by its node's name, or by that of a node of the model that it computes.
Result<const LayerMoments*> MomentsOf(const Graph& graph, const Layer& layer,
                                      profile::MomentSource& source) {
  const Node& node = graph.node(layer.node);
  std::vector<std::string> names = {node.name};
  names.insert(names.end(), node.origin.begin(), node.origin.end());
  for (const std::string& name : names) {
    OCTAVO_TRY(const LayerMoments* moments, source.Of(name));
    if (moments != nullptr && SameColumns(moments->layer, layer)) return moments;
  }
  return nullptr;
}

void AddMoments(const LayerMoments& from, LayerMoments& to) {
  to.columns += from.columns;
  to.skipped_columns += from.skipped_columns;
  for (size_t i = 0; i < from.first.size(); ++i) to.first[i] += from.first[i];
  for (size_t block = 0; block < from.second.size(); ++block) {
    for (size_t i = 0; i < from.second[block].size(); ++i) {
      to.second[block][i] += from.second[block][i];
    }
  }
}

void RecordNearest(const Graph& graph, const SharedWeight& weight, std::string_view reason,
                   const LayerMoments* moments, Context& context) {
  for (const Layer& layer : weight.layers) {
    const Node& node = graph.node(layer.node);
    context.findings().weights.push_back(
        {.node = node.name,
         .op = std::string(node.op->name),
         .rounding = std::string(WordOf(Rounding::kNearest)),
         .reason = std::string(reason),
         .elements = ir::NumElements(graph.type(weight.value).shape),
         .columns = moments != nullptr ? moments->columns : 0,
         .skipped_columns = moments != nullptr ? moments->skipped_columns : 0});
  }
}

// Whether the layers are all that reads the weight, or what it is dequantized to.
bool OnlyLayersRead(const Graph& graph, const SharedWeight& weight) {
  const auto layers = static_cast<int>(weight.layers.size());
  if (!graph.type(weight.value).blocked()) return graph.CountUses(weight.value) == layers;
  return graph.CountUses(weight.value) == 1 &&
         graph.CountUses(weight.layers.front().weight) == layers;
}

// Why a weight keeps its nearest integers; empty if it was rounded.
struct Kept {
  std::string reason = {};
  std::string_view warning = {};  // the reason for several layers, where the user should know
};

constexpr std::string_view kNotFinite = "no column of their operands is finite";
constexpr std::string_view kNotDefinite = "the moments of their operands are not positive definite";

Result<Kept> Round(Graph& graph, const SharedWeight& weight, Rounding rounding, Context& context,
                   LayerMoments& sum, const LayerMoments*& moments) {
  profile::MomentSource& source = *context.settings().moments;
  const bool blocked = graph.type(weight.value).blocked();
  if (blocked && rounding == Rounding::kBias) {
    return Kept{"a layer that computes in float keeps its bias"};
  }
  if (!OnlyLayersRead(graph, weight)) return Kept{"its weights have another consumer"};
  for (const Layer& layer : weight.layers) {
    if (!SameColumns(layer, weight.layers.front())) {
      return Kept{"its weights are shared with a layer of another form"};
    }
    if (!blocked && !IsPlainProduct(graph.node(layer.node))) {
      return Kept{"its product has factors"};
    }
    OCTAVO_TRY(const LayerMoments* own, MomentsOf(graph, layer, source));
    if (own == nullptr) return Kept{"calibration has no moments of its operand"};
    if (weight.layers.size() == 1) {
      moments = own;
    } else if (moments == nullptr) {
      sum = *own;
      moments = &sum;
    } else {
      AddMoments(*own, sum);
    }
  }
  if (moments->columns == 0) return Kept{"no column of its operand is finite", kNotFinite};
  if (!blocked) {
    OCTAVO_CHECK(RoundWeight(graph, context, weight, *moments, rounding));
    return Kept{};
  }
  OCTAVO_TRY(const bool rounded, RoundBlocks(graph, context, weight, *moments));
  if (rounded) return Kept{};
  return Kept{"the moments of its operand are not positive definite", kNotDefinite};
}

Status Run(Graph& graph, Context& context) {
  const Settings& settings = context.settings();
  const Rounding rounding = settings.options.rounding.value_or(Rounding::kDescent);
  if (rounding == Rounding::kNearest || settings.moments == nullptr) return {};
  const std::vector<SharedWeight> weights = WeightsOf(graph);
  std::map<std::string_view, std::vector<std::string>> warned;  // nodes
  for (const SharedWeight& weight : weights) {
    LayerMoments sum;
    const LayerMoments* moments = nullptr;
    OCTAVO_TRY(const Kept kept, Round(graph, weight, rounding, context, sum, moments));
    if (kept.reason.empty()) continue;
    RecordNearest(graph, weight, kept.reason, moments, context);
    if (kept.warning.empty()) continue;
    warned[kept.warning].push_back(graph.node(weight.layers.front().node).name);
  }
  for (const auto& [why, nodes] : warned) {
    context.Warn("weights_nearest",
                 fmt::format("{} layers keep their nearest weights, as {}: the first is '{}'",
                             nodes.size(), why, nodes.front()),
                 nodes.front());
  }
  return {};
}

}  // namespace

const Pass kRoundWeightsPass = {
    .name = "round-weights",
    .phase = Phase::kRound,
    .postcondition =
        "every pending weight of a layer whose moments are known has the integers that "
        "--rounding asks for, and biases contain the mean of the error",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
// Rounds weights by what they compute, and corrects biases by the mean of the error: with the
// moments of the calibration run (core/profile/moments.h).  All scales are final, and weights are
// still pending.  Weights that change get their integers here; where a bias overflows, they stay
// pending, since specialize-bias raises scales: a chosen integer then replaces the float weight by
// the real value that it stands for.
#include <algorithm>
#include <map>

#include "core/options/option_words.h"
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

constexpr Rule kRules[] = {kDescent, kBias};

std::vector<SharedWeight> WeightsOf(const Graph& graph) {
  std::vector<SharedWeight> weights;
  std::map<int32_t, size_t> places;
  for (const NodeId id : graph.nodes()) {
    const std::optional<Layer> layer = profile::LayerOf(graph, id);
    if (!layer || !graph.type(layer->data).quantized()) continue;
    const Node* quantize = graph.Producer(layer->weight);
    if (!IsOwn(quantize, "Quantize")) continue;  // already rounded
    const auto [at, added] = places.emplace(layer->weight.index, weights.size());
    if (added) weights.push_back({.value = layer->weight});
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

// Returns why the weight keeps its nearest integers; empty if it was rounded.
Result<std::string> Round(Graph& graph, const SharedWeight& weight, Rounding rounding,
                          Context& context, LayerMoments& sum, const LayerMoments*& moments) {
  profile::MomentSource& source = *context.settings().moments;
  if (graph.CountUses(weight.value) != static_cast<int>(weight.layers.size())) {
    return std::string("its weights have another consumer");
  }
  for (const Layer& layer : weight.layers) {
    if (!SameColumns(layer, weight.layers.front())) {
      return std::string("its weights are shared with a layer of another form");
    }
    if (!IsPlainProduct(graph.node(layer.node))) {
      return std::string("its product has factors");
    }
    OCTAVO_TRY(const LayerMoments* own, MomentsOf(graph, layer, source));
    if (own == nullptr) return std::string("calibration has no moments of its operand");
    if (weight.layers.size() == 1) {
      moments = own;
    } else if (moments == nullptr) {
      sum = *own;
      moments = &sum;
    } else {
      AddMoments(*own, sum);
    }
  }
  if (moments->columns == 0) return std::string("no column of its operand is finite");
  OCTAVO_CHECK(RoundWeight(graph, context, weight, *moments, rounding));
  return std::string();
}

Status Run(Graph& graph, Context& context) {
  const Settings& settings = context.settings();
  const Rounding rounding = settings.options.rounding.value_or(Rounding::kDescent);
  if (rounding == Rounding::kNearest || settings.moments == nullptr) return {};
  const std::vector<SharedWeight> weights = WeightsOf(graph);
  int64_t infinite = 0;
  std::string first;
  for (const SharedWeight& weight : weights) {
    LayerMoments sum;
    const LayerMoments* moments = nullptr;
    OCTAVO_TRY(const std::string reason, Round(graph, weight, rounding, context, sum, moments));
    if (reason.empty()) continue;
    RecordNearest(graph, weight, reason, moments, context);
    if (moments == nullptr || moments->columns > 0) continue;
    if (infinite++ == 0) first = graph.node(weight.layers.front().node).name;
  }
  if (infinite > 0) {
    context.Warn("weights_nearest",
                 fmt::format("{} layers keep their nearest weights, as no column of their operands "
                             "is finite: the first is '{}'",
                             infinite, first),
                 first);
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

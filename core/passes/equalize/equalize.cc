// SPDX-License-Identifier: Apache-2.0
// Gives the channels of a value ranges of similar width, so that one scale suits them all: x
// becomes x / s with a power of two s per channel, and the weights around it take the factors up.
// A value that is divided gets a new name, since its old one denotes other numbers.
#include <algorithm>
#include <map>

#include "core/passes/analysis/data_movement.h"
#include "core/passes/equalize/factors.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kChannels = {
    .id = "equalize/channels",
    .pattern = "Op2(f(Op1(x, w1, b1)), w2)",
    .replacement = "Op2(f(Op1(x, w1/s, b1/s)), w2*s)",
    .effect = Effect::kExact,
    .condition =
        "--equalize is on, and calibration knows the ranges of the channels; Op1 and Op2 are Conv, "
        "ConvTranspose, Gemm or MatMul with constant weights (Op1 also a normalization); all "
        "between them commutes with a positive factor per channel; s is a power of two from 1/4 to "
        "4; no weight leaves the range of normal numbers",
};
constexpr Rule kRules[] = {kChannels};
constexpr std::string_view kSuffix = ".equalized";

class Equalizer {
 public:
  Equalizer(Graph& graph, Context& context)
      : graph_(graph),
        context_(context),
        classes_(graph),
        ranges_(graph, context.settings(), context.findings()),
        factors_(FactorsOf(graph, classes_, ranges_)) {}

  void Run() {
    std::vector<ValueId> divided;
    for (const NodeId id : graph_.nodes()) {
      for (const ValueId result : graph_.node(id).results) {
        if (result && HasFactor(classes_.Of(result))) divided.push_back(result);
      }
    }
    if (divided.empty()) {
      context_.Warn("not_equalized",
                    "--equalize on has no effect: no channel between two layers has a factor "
                    "other than 1");
      return;
    }
    for (const ValueId id : divided) Derive(id);
    Report();
    ScaleConstants();
    for (const ValueId id : divided) Rename(id);
    for (auto& [node, names] : changed_) {
      context_.Applied(kChannels, graph_.node(NodeId{node}).name, std::move(names));
    }
    context_.Checkpoint(graph_);
  }

 private:
  bool HasFactor(std::span<const int32_t> ids) const {
    return std::ranges::any_of(ids, [&](int32_t id) { return factors_[id] != 1; });
  }
  bool HasFactor(const Labels* labels) const { return labels != nullptr && HasFactor(labels->ids); }
  std::string NewName(ValueId id) const {
    return graph_.UniqueName(graph_.name(id) + std::string(kSuffix));
  }

  static void Extend(const ir::Range& by, std::optional<ir::Range>& range) {
    range = range ? ir::Range{std::min(range->min, by.min), std::max(range->max, by.max)} : by;
  }

  // The range after the division: of its channels, else of what it moves, else a bound.
  std::optional<ir::Range> RangeOf(ValueId id) const {
    const profile::Entry* entry = ranges_.Of(id);
    const Labels& labels = *classes_.Of(id);
    if (const auto* channels = ChannelRangesOf(graph_, classes_, ranges_, id)) {
      std::optional<ir::Range> range;
      for (size_t c = 0; c < labels.ids.size(); ++c) {
        if (channels->min[c] > channels->max[c]) continue;  // no finite element
        const float factor = factors_[labels.ids[c]];
        Extend({channels->min[c] / factor, channels->max[c] / factor}, range);
      }
      return range;
    }
    if (entry == nullptr) return std::nullopt;
    float least = 1, most = 1;
    for (const int32_t each : labels.ids) {
      least = std::min(least, factors_[each]);
      most = std::max(most, factors_[each]);
    }
    return ir::Range{std::min(entry->min / least, entry->min / most),
                     std::max(entry->max / least, entry->max / most)};
  }

  // Of what the node moves; nullopt if it computes, or the range of an operand is not known.
  std::optional<ir::Range> RangeOfOperands(const Node& node) const {
    std::optional<ir::Range> range;
    if (!MovesAll(graph_, node)) return range;
    for (const size_t input : DataInputs(node)) {
      const ValueId operand = node.inputs[input];
      const auto at = derived_.find(operand.index);
      const std::optional<ir::Range> own =
          at != derived_.end() ? at->second : KnownRange(graph_, context_, ranges_, operand);
      if (!own) return std::nullopt;
      Extend(*own, range);
    }
    return range;
  }

  void Derive(ValueId id) {
    names_[id.index] = NewName(id);
    Division& division = context_.findings().division;
    division.names.emplace(names_[id.index], graph_.name(id));
    const bool measured = ChannelRangesOf(graph_, classes_, ranges_, id) != nullptr;
    std::optional<ir::Range> range;
    if (!measured) range = RangeOfOperands(*graph_.Producer(id));
    // Operands that are bounds have said so.
    division.measured &= measured || range.has_value();
    if (!range) range = RangeOf(id);
    if (!range) return;
    derived_.insert_or_assign(id.index, *range);
    DeriveRange(context_, names_[id.index], range);
    division.ranges.insert_or_assign(names_[id.index], *range);
  }

  void Report() {
    for (const LayerClasses& layer : classes_.layers()) {
      if (!HasFactor(layer.data)) continue;
      std::vector<float>& divisors =
          context_.findings().division.layers[graph_.node(layer.layer.node).name];
      for (const int32_t id : layer.data) divisors.push_back(factors_[id]);
    }
  }

  void Change(NodeId id, ValueId before, ValueId after) {
    std::vector<std::string>& names = changed_[id.index];
    for (const ValueId value : {before, after}) {
      if (std::ranges::find(names, graph_.name(value)) == names.end()) {
        names.push_back(graph_.name(value));
      }
    }
  }

  // All consumers of the constant scale it alike.
  void Replace(ValueId before, ir::Tensor tensor) {
    const std::vector<ir::Use> uses = graph_.value(before).uses;
    const ValueId after = graph_.AddConstant(NewName(before), std::move(tensor));
    for (const ir::Use& use : uses) {
      graph_.SetInput(use.node, static_cast<size_t>(use.input), after);
      Change(use.node, before, after);
    }
    graph_.EraseConstant(before);
  }

  void ScaleConstants() {
    std::map<int32_t, ir::Tensor> scaled;
    for (const LayerClasses& layer : classes_.layers()) {
      if (!HasFactor(layer.data) && !HasFactor(layer.result)) continue;
      scaled.try_emplace(layer.layer.weight.index, ScaledWeights(graph_, layer, factors_));
    }
    for (const VectorClasses& vector : classes_.vectors()) {
      if (!HasFactor(&vector.labels)) continue;
      scaled.try_emplace(graph_.node(vector.node).inputs[vector.input].index,
                         ScaledVector(graph_, vector, factors_));
    }
    for (auto& [index, tensor] : scaled) Replace(ValueId{index}, std::move(tensor));
  }

  void Rename(ValueId id) {
    const NodeId producer = graph_.value(id).producer;
    const std::vector<ir::Use> uses = graph_.value(id).uses;
    const ValueId renamed =
        graph_.Interpose(id, names_[id.index], graph_.type(id), {.op = Op("Identity")});
    for (const ir::Use& use : uses) {
      graph_.SetInput(use.node, static_cast<size_t>(use.input), renamed);
    }
    Change(producer, id, renamed);
    graph_.Erase(graph_.value(id).producer);
  }

  Graph& graph_;
  Context& context_;
  const ChannelClasses classes_;
  const ValueRanges ranges_;
  const std::vector<float> factors_;
  std::map<int32_t, std::string> names_;                 // the new ones, by value
  std::map<int32_t, ir::Range> derived_;                 // by value
  std::map<int32_t, std::vector<std::string>> changed_;  // by node
};

bool HasChannelRanges(const profile::Profile& profile) {
  return std::ranges::any_of(profile.values,
                             [](const auto& named) { return named.second.channels.has_value(); });
}

Status Run(Graph& graph, Context& context) {
  const Settings& settings = context.settings();
  if (settings.options.equalize != Equalize::kOn) return {};
  if (settings.options.no_quantize || settings.profile == nullptr) {
    context.Warn("not_equalized", "--equalize on has no effect: nothing is quantized");
    return {};
  }
  if (!HasChannelRanges(*settings.profile)) {
    context.Warn("not_equalized",
                 "--equalize on has no effect: calibration has no ranges of channels; profiles of "
                 "version 1 and samples of several sizes do not give them");
    return {};
  }
  Equalizer(graph, context).Run();
  return {};
}

}  // namespace

const Pass kEqualizePass = {
    .name = "equalize",
    .phase = Phase::kEqualize,
    .postcondition =
        "channels of a value between layers use its range alike, as far as their factors allow",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes

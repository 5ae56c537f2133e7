// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/weight_rounder.h"

#include <algorithm>

#include "core/ir/output_channels.h"
#include "core/ops/quantize_math.h"
#include "core/options/option_words.h"
#include "core/passes/finish/bias_room.h"
#include "core/passes/finish/layer_bias.h"
#include "core/passes/finish/weight_descent.h"
#include "core/passes/rewrite.h"
#include "core/profile/choose_params.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;
using profile::Layer;
using profile::LayerMoments;

constexpr int64_t kShiftGrain = 16;  // output channels
constexpr int64_t kCopyGrain = 1 << 16;

class Rounder {
 public:
  Rounder(Graph& graph, Context& context, const SharedWeight& weight, const LayerMoments& moments)
      : graph_(graph),
        context_(context),
        weight_(weight),
        layer_(weight.layers.front()),
        moments_(moments),
        type_(graph.type(weight.value)),
        floats_(graph.value(Payload()).constant->tensor),
        centred_(std::ranges::all_of(
            weight.layers, [&](const Layer& each) { return BiasOf(graph, each).possible; })) {
    const profile::WeightOrder order = profile::OrderOf(graph_, layer_, 0);
    for (int64_t k = 0; k < layer_.terms; ++k) {
      places_.push_back(order.At(layer_, k) - order.first);
    }
    const ir::Tensor nearest = ops::QuantizeTensor(context.settings().target.numerics->quantize,
                                                   floats_, type_, context.settings().pool);
    integers_.resize(static_cast<size_t>(nearest.size()));
    context.settings().pool->For(nearest.size(), kCopyGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        integers_[static_cast<size_t>(i)] = static_cast<int32_t>(nearest.IntAt(i));
      }
    });
  }

  Status Run(Rounding rounding) {
    const std::vector<int32_t> nearest = integers_;
    FindFrozen();
    if (rounding == Rounding::kDescent) OCTAVO_CHECK(DescendAll());
    Record(rounding, nearest);
    const std::vector<double> shift = centred_ ? Shift() : std::vector<double>();
    if (changed_ > 0) StoreWeights(nearest, IsFinal(shift));
    if (centred_) CorrectBiases(shift);
    return {};
  }

 private:
  ValueId Payload() const { return graph_.Producer(weight_.value)->inputs[0]; }
  size_t Channel(int64_t output) const { return ir::ChannelOf(*type_.quant, output); }
  // In the weight's tensor: the first term of an output channel, and its term k.
  int64_t FirstOf(int64_t output) const { return profile::OrderOf(graph_, layer_, output).first; }
  size_t Place(int64_t first, int64_t k) const {
    return static_cast<size_t>(first + places_[static_cast<size_t>(k)]);
  }

  // Scales that specialize-bias will raise: nothing about them is final.
  void FindFrozen() {
    frozen_.assign(static_cast<size_t>(layer_.outputs()), false);
    for (const Layer& layer : weight_.layers) {
      const ir::Tensor* bias = BiasOf(graph_, layer).constant;
      if (bias == nullptr) continue;
      const ir::Quant& data = *graph_.type(layer.data).quant;
      for (int64_t c = 0; c < bias->size(); ++c) {
        const float scale = ir::AccumulatorScale(data, *type_.quant, c);
        if (!BiasFits(bias->values<float>()[static_cast<size_t>(c)], scale,
                      context_.settings().target.bias_bits)) {
          frozen_[static_cast<size_t>(c)] = true;
        }
      }
    }
  }

  Status DescendAll() {
    const std::vector<profile::TermBlock> blocks = profile::BlocksOf(layer_);
    ThreadPool& pool = *context_.settings().pool;
    const StopToken& stop = context_.settings().stop;
    // Of one group the channels, of several the groups are in parallel.
    std::vector<RoundingResult> results(static_cast<size_t>(layer_.outputs()));
    Curvature curvature;  // its memory serves all blocks
    for (size_t i = 0; i < blocks.size(); ++i) {
      OCTAVO_CHECK(stop.Check());
      if (layer_.groups == 1) {
        FindCurvatureAt(0, i, blocks[i], curvature);
        pool.For(layer_.channels, kTogether, [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end && !stop.StopRequested(); c += kTogether) {
            DescendChannels(curvature, blocks[i], c, std::min(c + kTogether, end), results);
          }
        });
        continue;
      }
      pool.For(layer_.groups, 1, [&](int64_t begin, int64_t end) {
        Curvature own;
        for (int64_t group = begin; group < end && !stop.StopRequested(); ++group) {
          FindCurvatureAt(group, i, blocks[i], own);
          const int64_t last = (group + 1) * layer_.channels;
          for (int64_t c = last - layer_.channels; c < last; c += kTogether) {
            DescendChannels(own, blocks[i], c, std::min(c + kTogether, last), results);
          }
        }
      });
    }
    OCTAVO_CHECK(stop.Check());
    for (const RoundingResult& result : results) {
      before_ += result.before;
      after_ += result.after;
    }
    return {};
  }

  void FindCurvatureAt(int64_t group, size_t block, const profile::TermBlock& terms,
                       Curvature& curvature) const {
    const std::span<const double> first(moments_.first);
    FindCurvature(terms,
                  first.subspan(static_cast<size_t>(group * layer_.terms + terms.begin),
                                static_cast<size_t>(terms.terms)),
                  moments_.Second(group, block), moments_.columns, centred_, curvature);
  }

  // Rounds the block's terms of the output channels [begin, end) and adds to their results.
  void DescendChannels(const Curvature& curvature, const profile::TermBlock& block, int64_t begin,
                       int64_t end, std::vector<RoundingResult>& results) {
    const std::span<const float> all = floats_.values<float>();
    const ir::IntegerRange range =
        profile::IntegersOf(profile::WeightSchemeOf(context_.settings().target));
    std::vector<int64_t> outputs;
    std::vector<std::vector<float>> weights;
    std::vector<std::vector<int32_t>> integers;
    for (int64_t output = begin; output < end; ++output) {
      if (frozen_[static_cast<size_t>(output)]) continue;
      const int64_t first = FirstOf(output);
      const int32_t zero_point = type_.quant->zero_points[Channel(output)];
      outputs.push_back(output);
      std::vector<float>& floats = weights.emplace_back();
      std::vector<int32_t>& nearest = integers.emplace_back();
      floats.reserve(static_cast<size_t>(block.terms));
      nearest.reserve(static_cast<size_t>(block.terms));
      for (int64_t k = block.begin; k < block.begin + block.terms; ++k) {
        const size_t at = Place(first, k);
        floats.push_back(all[at]);
        nearest.push_back(integers_[at] - zero_point);
      }
    }
    std::vector<RoundingProblem> problems;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t channel = Channel(outputs[i]);
      const int32_t zero_point = type_.quant->zero_points[channel];
      problems.push_back({.weights = weights[i],
                          .scale = double{type_.quant->scales[channel]},
                          .least = static_cast<int32_t>(range.min - zero_point),
                          .most = static_cast<int32_t>(range.max - zero_point)});
    }
    const std::vector<RoundingResult> parts = DescendTogether(curvature, problems, integers);
    for (size_t i = 0; i < outputs.size(); ++i) {
      RoundingResult& total = results[static_cast<size_t>(outputs[i])];
      total.before += parts[i].before;
      total.after += parts[i].after;
      if (parts[i].changed > 0) KeepIntegers(block, outputs[i], integers[i]);
    }
  }

  void KeepIntegers(const profile::TermBlock& block, int64_t output,
                    std::span<const int32_t> integers) {
    const int64_t first = FirstOf(output);
    const int32_t zero_point = type_.quant->zero_points[Channel(output)];
    for (int64_t k = 0; k < block.terms; ++k) {
      integers_[Place(first, block.begin + k)] = integers[static_cast<size_t>(k)] + zero_point;
    }
  }

  // Of each output channel: the mean of what its results lack.
  std::vector<double> Shift() const {
    std::vector<double> shift(static_cast<size_t>(layer_.outputs()), 0.0);
    std::vector<double> means = moments_.first;
    for (double& mean : means) mean /= static_cast<double>(moments_.columns);
    context_.settings().pool->For(layer_.outputs(), kShiftGrain, [&](int64_t begin, int64_t end) {
      for (int64_t output = begin; output < end; ++output) {
        if (frozen_[static_cast<size_t>(output)]) continue;
        shift[static_cast<size_t>(output)] = ShiftOf(output, means);
      }
    });
    return shift;
  }

  double ShiftOf(int64_t output, const std::vector<double>& means) const {
    const std::span<const float> all = floats_.values<float>();
    const size_t channel = Channel(output);
    const double scale = type_.quant->scales[channel];
    const int32_t zero_point = type_.quant->zero_points[channel];
    const int64_t first = FirstOf(output);
    const double* mean = &means[static_cast<size_t>(output / layer_.channels * layer_.terms)];
    double sum = 0;
    for (int64_t k = 0; k < layer_.terms; ++k) {
      const size_t at = Place(first, k);
      sum += (double{all[at]} - (integers_[at] - zero_point) * scale) * mean[k];
    }
    return sum;
  }

  void Record(Rounding rounding, std::span<const int32_t> nearest) {
    for (size_t i = 0; i < nearest.size(); ++i) changed_ += nearest[i] != integers_[i] ? 1 : 0;
    for (const Layer& layer : weight_.layers) {
      const Node& node = graph_.node(layer.node);
      WeightRounding entry{.node = node.name,
                           .op = std::string(node.op->name),
                           .rounding = std::string(WordOf(rounding)),
                           .elements = static_cast<int64_t>(nearest.size()),
                           .changed = changed_,
                           .columns = moments_.columns,
                           .skipped_columns = moments_.skipped_columns};
      if (rounding == Rounding::kDescent) {
        entry.objective_before = before_;
        entry.objective_after = after_;
      }
      context_.findings().weights.push_back(std::move(entry));
    }
  }

  void StoreWeights(std::span<const int32_t> nearest, bool final) {
    ir::Tensor rounded = floats_.Clone();
    const std::span<float> values = rounded.mutable_values<float>();
    for (int64_t output = 0; output < layer_.outputs(); ++output) {
      const size_t channel = Channel(output);
      const int64_t first = FirstOf(output);
      for (int64_t k = 0; k < layer_.terms; ++k) {
        const size_t at = Place(first, k);
        if (integers_[at] == nearest[at]) continue;
        values[at] = ops::DequantizeOne(integers_[at], type_.quant->scales[channel],
                                        type_.quant->zero_points[channel]);
      }
    }
    if (final) {
      KeepRounded(rounded);
    } else {
      const NodeId quantize = graph_.value(weight_.value).producer;
      const ValueId payload = Payload();
      const ValueId changed = ChangeConstant(graph_, payload, std::move(rounded));
      if (changed != payload) graph_.SetInput(quantize, 0, changed);
    }
    for (const Layer& layer : weight_.layers) {
      context_.Applied(kDescent, graph_.node(layer.node).name, {graph_.name(weight_.value)});
    }
    context_.Checkpoint(graph_);
  }

  // Stores the integers at once: floats that differ from the model's file would double its memory.
  void KeepRounded(const ir::Tensor& rounded) {
    const ValueId payload = Payload();
    ir::Tensor integers =
        ops::QuantizeTensor(context_.settings().target.numerics->quantize, rounded, type_);
    graph_.DefineAsConstant(weight_.value, ir::MakePayload(std::move(integers)), type_);
    if (graph_.CountUses(payload) > 0) return;
    graph_.AddAlias(graph_.name(payload), weight_.value);
    graph_.EraseConstant(payload);
  }

  // Whether specialize-bias will not raise a scale: no bias overflows, also when it is corrected.
  bool IsFinal(std::span<const double> shift) const {
    const int bits = context_.settings().target.bias_bits;
    for (const Layer& layer : weight_.layers) {
      const ir::Tensor* bias = BiasOf(graph_, layer).constant;
      const ir::Quant& data = *graph_.type(layer.data).quant;
      for (int64_t c = 0; c < layer_.outputs(); ++c) {
        const auto at = static_cast<size_t>(c);
        const double sum = (bias != nullptr ? double{bias->values<float>()[at]} : 0.0) +
                           (shift.empty() ? 0.0 : shift[at]);
        const float scale = ir::AccumulatorScale(data, *type_.quant, c);
        if (!BiasFits(static_cast<float>(sum), scale, bits)) return false;
      }
    }
    return true;
  }

  void CorrectBiases(std::span<const double> shift) {
    auto& entries = context_.findings().weights;
    for (size_t i = 0; i < weight_.layers.size(); ++i) {
      const auto changed = AddToBias(graph_, weight_.layers[i], shift, context_.settings().target);
      if (!changed) continue;
      entries[entries.size() - weight_.layers.size() + i].max_bias_change = changed->most;
      context_.Applied(kBias, graph_.node(weight_.layers[i].node).name, {changed->name});
      context_.Checkpoint(graph_);
    }
  }

  Graph& graph_;
  Context& context_;
  const SharedWeight& weight_;
  const Layer& layer_;
  const LayerMoments& moments_;
  const ir::Type type_;
  const ir::Tensor floats_;
  const bool centred_;           // every layer can have a bias
  std::vector<int64_t> places_;  // of the terms of an output channel, relative to the first
  std::vector<int32_t> integers_;
  std::vector<bool> frozen_;  // by output channel
  double before_ = 0, after_ = 0;
  int64_t changed_ = 0;
};

}  // namespace

Status RoundWeight(Graph& graph, Context& context, const SharedWeight& weight,
                   const LayerMoments& moments, Rounding rounding) {
  return Rounder(graph, context, weight, moments).Run(rounding);
}

}  // namespace octavo::passes

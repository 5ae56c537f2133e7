// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/block_rounder.h"

#include "core/ir/blocks.h"
#include "core/ops/quantize_math.h"
#include "core/passes/finish/error_feedback.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;
using profile::Layer;
using profile::LayerMoments;
using profile::TermBlock;

constexpr int64_t kChannelGrain = 4;

class BlockRounder {
 public:
  BlockRounder(Graph& graph, Context& context, const SharedWeight& weight,
               const LayerMoments& moments)
      : graph_(graph),
        context_(context),
        weight_(weight),
        layer_(weight.layers.front()),
        moments_(moments),
        type_(graph.type(weight.value)),
        blocks_(ir::Blocks::Of(*type_.quant, type_.shape)),
        floats_(graph.value(Payload()).constant->tensor),
        nearest_(ops::QuantizeTensor(floats_, type_, context.settings().pool)),
        integers_(nearest_.Clone()) {}

  Result<bool> Run() {
    const std::vector<TermBlock> parts = profile::BlocksOf(layer_);
    const StopToken& stop = context_.settings().stop;
    std::vector<FeedbackResult> results(static_cast<size_t>(layer_.outputs()));
    for (size_t i = 0; i < parts.size(); ++i) {
      OCTAVO_CHECK(stop.Check());
      const auto factor = FactorOf(parts[i].terms, moments_.Second(0, i), moments_.columns);
      if (!factor) return false;
      context_.settings().pool->For(
          layer_.outputs(), kChannelGrain, [&](int64_t begin, int64_t end) {
            for (int64_t c = begin; c < end && !stop.StopRequested(); ++c) {
              RoundChannel(*factor, parts[i], c, results[static_cast<size_t>(c)]);
            }
          });
    }
    OCTAVO_CHECK(stop.Check());
    Record(results);
    Store();
    return true;
  }

 private:
  ValueId Payload() const { return graph_.Producer(weight_.value)->inputs[0]; }

  void RoundChannel(const FeedbackFactor& factor, const TermBlock& part, int64_t output,
                    FeedbackResult& total) {
    const profile::WeightOrder order = profile::OrderOf(graph_, layer_, output);
    std::vector<float> weights, scales;
    std::vector<int32_t> integers;
    for (int64_t k = part.begin; k < part.begin + part.terms; ++k) {
      const int64_t at = order.At(layer_, k);
      weights.push_back(floats_.values<float>()[static_cast<size_t>(at)]);
      scales.push_back(type_.quant->scales[static_cast<size_t>(blocks_.ScaleOf(at))]);
      integers.push_back(static_cast<int32_t>(nearest_.IntAt(at)));
    }
    const ir::IntegerRange range = ir::IntegerRangeOf(type_.dtype);
    const FeedbackResult result = FeedBack(factor,
                                           {.weights = weights,
                                            .scales = scales,
                                            .least = static_cast<int32_t>(range.min),
                                            .most = static_cast<int32_t>(range.max)},
                                           integers);
    total.before += result.before;
    total.after += result.after;
    total.changed += result.changed;
    if (result.changed == 0) return;
    for (int64_t k = 0; k < part.terms; ++k) {
      integers_.mutable_values<int8_t>()[static_cast<size_t>(order.At(layer_, part.begin + k))] =
          static_cast<int8_t>(integers[static_cast<size_t>(k)]);
    }
  }

  void Record(std::span<const FeedbackResult> results) {
    FeedbackResult sum;
    for (const FeedbackResult& each : results) {
      sum.before += each.before;
      sum.after += each.after;
      sum.changed += each.changed;
    }
    for (const Layer& layer : weight_.layers) {
      const Node& node = graph_.node(layer.node);
      context_.findings().weights.push_back({.node = node.name,
                                             .op = std::string(node.op->name),
                                             .rounding = "error-feedback",
                                             .elements = floats_.size(),
                                             .changed = sum.changed,
                                             .objective_before = sum.before,
                                             .objective_after = sum.after,
                                             .columns = moments_.columns,
                                             .skipped_columns = moments_.skipped_columns});
    }
    changed_ = sum.changed;
  }

  void Store() {
    if (changed_ == 0) return;  // merge-constants rounds to nearest
    const ValueId payload = Payload();
    graph_.DefineAsConstant(weight_.value, ir::MakePayload(integers_), type_);
    if (graph_.CountUses(payload) == 0) {
      graph_.AddAlias(graph_.name(payload), weight_.value);
      graph_.EraseConstant(payload);
    }
    for (const Layer& layer : weight_.layers) {
      context_.Applied(kErrorFeedback, graph_.node(layer.node).name, {graph_.name(weight_.value)});
    }
    context_.Checkpoint(graph_);
  }

  Graph& graph_;
  Context& context_;
  const SharedWeight& weight_;
  const Layer& layer_;
  const LayerMoments& moments_;
  const ir::Type type_;
  const ir::Blocks blocks_;
  const ir::Tensor floats_;
  const ir::Tensor nearest_;
  ir::Tensor integers_;
  int64_t changed_ = 0;
};

}  // namespace

ValueId PendingBlocks(const Graph& graph, ValueId real) {
  const Node* dequantize = graph.Producer(real);
  if (!IsOwn(dequantize, "Dequantize")) return {};
  const ValueId blocked = dequantize->inputs[0];
  const bool pending = graph.type(blocked).blocked() && !graph.IsConstant(blocked);
  return pending && graph.type(blocked).dtype == ir::DType::kI4 ? blocked : ValueId{};
}

Result<bool> RoundBlocks(Graph& graph, Context& context, const SharedWeight& weight,
                         const LayerMoments& moments) {
  return BlockRounder(graph, context, weight, moments).Run();
}

}  // namespace octavo::passes

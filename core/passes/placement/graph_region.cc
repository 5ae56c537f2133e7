// SPDX-License-Identifier: Apache-2.0
#include "core/passes/placement/graph_region.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/passes/analysis/evaluated_values.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/bias_rescale.h"
#include "core/passes/rescale/fold_conditions.h"

namespace octavo::passes::placement {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using AtInput = ir::RescaleRule::AtInput;
using AtOutput = ir::RescaleRule::AtOutput;

bool IsPlain(const Type& type) { return type.quantized() && type.quant->per_tensor(); }

class Extractor {
 public:
  explicit Extractor(const Graph& graph) : graph_(graph), evaluated_(EvaluatedValues(graph)) {}

  GraphRegion Run() {
    mover_of_.assign(graph_.node_bound(), -1);
    depth_of_.assign(graph_.value_bound(), 0);
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (IsRescale(node)) {
        FindDepth(node);
      } else if (IsMover(node)) {
        mover_of_[id.index] = AddActor(Actor::Kind::kMover, graph_.type(node.result()), id, {});
      }
    }
    for (const ValueId input : graph_.inputs()) AddItem(input);
    // Adds the item of a constant at its first consumer.
    std::vector<bool> met(graph_.value_bound(), false);
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      for (const ValueId input : node.inputs) {
        if (!input || !graph_.IsConstant(input) || met[input.index]) continue;
        met[input.index] = true;
        AddItem(input);
      }
      for (const ValueId result : node.results) AddItem(result);
    }
    return std::move(out_);
  }

 private:
  // A Rescale that can move gets its position in a chain of such Rescales, counted from 1; any
  // other Rescale ends one path and starts others.
  void FindDepth(const Node& rescale) {
    const ValueId x = rescale.inputs[0], r = rescale.result();
    if (!IsPlain(graph_.type(x)) || !IsPlain(graph_.type(r))) return;
    // It gives a graph output its name, which no other node can.
    if (graph_.IsOutput(r) && graph_.type(x).SameQuantization(graph_.type(r))) return;
    if (depth_of_[x.index] < kMaxSteps) depth_of_[r.index] = depth_of_[x.index] + 1;
  }
  bool Moves(ValueId rescaled) const { return depth_of_[rescaled.index] > 0; }

  bool IsMover(const Node& node) const {
    const ir::RescaleRule& rule = node.op->rescale;
    if (rule.at_input != AtInput::kSink && rule.at_output != AtOutput::kHoist) return false;
    if (node.op->QuantOf(graph_, node).kind != ir::QuantRule::Kind::kSameScale) return false;
    for (const ValueId result : node.results) {
      if (!IsPlain(graph_.type(result))) return false;
    }
    const Type& type = graph_.type(node.result());
    const auto same = [&](ValueId value) { return graph_.type(value).SameQuantization(type); };
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || node.op->RoleOf(i) != ir::Role::kData) continue;
      if (!same(node.inputs[i])) return false;
    }
    return std::ranges::all_of(node.results, same);
  }

  int LabelOf(const Type& type) {
    const auto key = std::make_tuple(type.dtype, type.quant->scale(), type.quant->zero_point());
    const auto [at, added] = labels_.emplace(key, static_cast<int>(out_.labels.size()));
    if (added) out_.labels.push_back({type.dtype, {}, type.quant, {}});
    return at->second;
  }

  int AddActor(Actor::Kind kind, const Type& type, NodeId node, ir::Use use) {
    out_.region.actors.push_back({kind, LabelOf(type)});
    out_.movers.push_back(node);
    out_.uses.push_back(use);
    return static_cast<int>(out_.region.actors.size()) - 1;
  }

  // Whether a same-scale op or a Rescale that can move consumes the value.
  bool Matters(ValueId value) const {
    return std::ranges::any_of(graph_.value(value).uses, [&](const ir::Use& use) {
      const Node& consumer = graph_.node(use.node);
      return mover_of_[use.node.index] >= 0 || (IsRescale(consumer) && Moves(consumer.result()));
    });
  }

  void AddItem(ValueId value) {
    const Type& type = graph_.type(value);
    if (!IsPlain(type) || Moves(value)) return;
    const NodeId node = graph_.value(value).producer;
    int producer = node ? mover_of_[node.index] : -1;
    if (producer < 0 && !Matters(value)) return;
    if (producer < 0) producer = AddActor(Actor::Kind::kProducer, type, {}, {});
    out_.region.items.push_back({type.elements(), producer, {}, evaluated_[value.index]});
    out_.values.push_back(value);
    out_.paths.emplace_back();
    out_.rescales.emplace_back();
    AddPaths(value, {});
  }

  void AddPaths(ValueId value, const std::vector<int>& labels) {
    for (const ir::Use& use : graph_.value(value).uses) {
      const Node& consumer = graph_.node(use.node);
      if (IsRescale(consumer) && Moves(consumer.result())) {
        std::vector<int> further = labels;
        further.push_back(LabelOf(graph_.type(consumer.result())));
        out_.rescales.back().push_back({use.node, further, graph_.IsOutput(consumer.result())});
        AddPaths(consumer.result(), further);
        continue;
      }
      int actor = mover_of_[use.node.index];
      if (actor < 0) actor = AddActor(Actor::Kind::kConsumer, graph_.type(value), {}, use);
      AddPath({actor, labels}, {.use = use});
    }
    if (!graph_.IsOutput(value)) return;
    AddPath({AddActor(Actor::Kind::kConsumer, graph_.type(value), {}, {}), labels},
            {.output = value});
  }

  void AddPath(Path path, GraphRegion::End end) {
    out_.region.items.back().paths.push_back(std::move(path));
    out_.paths.back().push_back(end);
  }

  const Graph& graph_;
  const std::vector<bool> evaluated_;
  GraphRegion out_;
  std::vector<int> mover_of_;  // by node: its actor, or -1
  std::vector<int> depth_of_;  // by value
  std::map<std::tuple<ir::DType, float, int32_t>, int> labels_;
};

// Evaluates AllowedMoves on a graph; caches merges, because one check may enumerate all values of a
// type.
class GraphMoves {
 public:
  GraphMoves(const Graph& graph, const Settings& settings, const GraphRegion& region)
      : graph_(graph), settings_(settings), region_(region) {
    value_of_.resize(region.region.actors.size());
    for (size_t i = 0; i < region.values.size(); ++i) {
      ValueId& value = value_of_[region.region.items[i].producer];
      if (!value) value = region.values[i];
    }
  }

  bool MaySink(int actor, int from, int to) const {
    const Node& node = graph_.node(region_.movers[actor]);
    return node.op->rescale.at_input == AtInput::kSink && MayPass(node, from, to, from);
  }
  bool MayHoist(int actor, int from, int to) const {
    const Node& node = graph_.node(region_.movers[actor]);
    return node.op->rescale.at_output == AtOutput::kHoist && MayPass(node, from, to, to);
  }

  bool MayFoldIntoConsumer(int actor, int from, int to) const {
    const ir::Use& use = region_.uses[actor];
    if (!use.node) return false;
    const FoldCheck check =
        CanFoldIntoConsumer(graph_, settings_.target, use, type(from), type(to));
    const int bits = settings_.target.bias_bits;
    return Allows(check) && WhyBiasStays(graph_, use.node, type(from), bits).empty();
  }
  bool MayFoldIntoProducer(int actor, int from, int to) const {
    return Allows(
        CanFoldIntoProducer(graph_, settings_.target, value_of_[actor], type(from), type(to)));
  }

  bool MayMerge(int a, int b, int c) {
    const auto [at, added] = merges_.emplace(std::make_tuple(a, b, c), false);
    if (added) {
      at->second = Allows(CanMerge(type(a), type(b), type(c), *settings_.target.numerics));
    }
    return at->second;
  }

 private:
  const Type& type(int label) const { return region_.labels[label]; }

  bool MayPass(const Node& node, int from, int to, int at) const {
    if (!HasActivations(settings_.target, type(at).dtype)) return false;
    if (node.op->rescale.why_not == nullptr) return true;
    const auto shaped = [&](int label) {
      Type shaped_type = type(label);
      shaped_type.shape = graph_.type(node.result()).shape;
      return shaped_type;
    };
    return node.op->rescale.why_not(graph_, node, shaped(from), shaped(to)).empty();
  }

  bool Allows(const FoldCheck& check) const {
    return check.effect && *check.effect <= settings_.limit;
  }

  const Graph& graph_;
  const Settings& settings_;
  const GraphRegion& region_;
  std::vector<ValueId> value_of_;  // by actor: the first value it computes
  std::map<std::tuple<int, int, int>, bool> merges_;
};

}  // namespace

GraphRegion RegionOf(const Graph& graph) { return Extractor(graph).Run(); }

AllowedMoves AllowedMovesOf(const Graph& graph, const Settings& settings,
                            const GraphRegion& region) {
  const auto allowed = std::make_shared<GraphMoves>(graph, settings, region);
  return {
      .may_sink = [allowed](int actor, int a, int b) { return allowed->MaySink(actor, a, b); },
      .may_hoist = [allowed](int actor, int a, int b) { return allowed->MayHoist(actor, a, b); },
      .may_fold_into_consumer =
          [allowed](int actor, int a, int b) { return allowed->MayFoldIntoConsumer(actor, a, b); },
      .may_fold_into_producer =
          [allowed](int actor, int a, int b) { return allowed->MayFoldIntoProducer(actor, a, b); },
      .may_merge = [allowed](int a, int b, int c) { return allowed->MayMerge(a, b, c); },
  };
}

}  // namespace octavo::passes::placement

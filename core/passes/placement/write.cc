// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/ops/op_table.h"
#include "core/passes/placement/graph_region.h"
#include "core/passes/rescale/output_name.h"

namespace octavo::passes::placement {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

class Writer {
 public:
  Writer(Graph& graph, const GraphRegion& region, const Built& built, const Positions& positions)
      : graph_(graph), region_(region), built_(built), positions_(positions) {}

  Result<std::vector<Move>> Run() {
    std::vector<Move> moves;
    for (size_t a = 0; a < positions_.size(); ++a) {
      if (positions_[a] != 0) moves.push_back({region_.movers[a], positions_[a]});
    }
    for (size_t i = 0; i < region_.values.size(); ++i) {
      if (Touched(i) || HasDuplicates(region_.rescales[i])) WriteItem(i);
    }
    for (const auto& [duplicate, kept] : duplicates_) {
      if (graph_.CountUses(kept) > 0) graph_.Forward(duplicate, kept);
    }
    for (const auto& [output, value] : outputs_) {
      if (!graph_.value(value).erased) ComputeAsOutput(graph_, output, value);
    }
    for (auto node = maybe_unused_.rbegin(); node != maybe_unused_.rend(); ++node) {
      if (graph_.CountUses(graph_.node(*node).result()) == 0) graph_.Erase(*node);
    }
    OCTAVO_CHECK(graph_.Sort());
    return moves;
  }

 private:
  bool Touched(size_t item) const {
    const Item& own = region_.region.items[item];
    return positions_[own.producer] != 0 || std::ranges::any_of(own.paths, [&](const Path& path) {
             return positions_[path.consumer] != 0;
           });
  }

  // Maps stages to values: the producer's value, the result of an existing Rescale, or of a new
  // one.
  void WriteItem(size_t item) {
    const Value& value = built_.problem.values[item];
    const int from =
        StageAt(built_.problem, value, value.producer, positions_[value.producer.site]);
    const int origin = StageAt(built_.problem, value, value.producer, 0);
    const ValueId own = region_.values[item];
    values_.assign(value.stages.size(), ValueId{});
    rescales_.assign(value.stages.size(), NodeId{});
    values_[from] = own;
    if (positions_[value.producer.site] != 0 && graph_.IsOutput(own)) {
      // Its Rescales sink below it, and the last of them computes the output.
      values_[from] =
          graph_.Interpose(own, graph_.UniqueName(graph_.name(own) + ".kept"), TypeAt(item, from),
                           {.op = ops::FindOp("Rescale", "octavo")});
      rescales_[origin] = graph_.value(own).producer;
    } else if (positions_[value.producer.site] != 0) {
      graph_.SetType(own, TypeAt(item, from));
    }
    for (const GraphRegion::ExistingRescale& rescale : region_.rescales[item]) {
      Keep(rescale, StageBelow(item, origin, rescale.labels));
    }
    for (size_t w = 0; w < value.consumers.size(); ++w) {
      const End& consumer = value.consumers[w];
      const int stage = StageAt(built_.problem, value, consumer, positions_[consumer.site]);
      const GraphRegion::End& end = region_.paths[item][w];
      if (end.use.node) {
        graph_.SetInput(end.use.node, static_cast<size_t>(end.use.input), ValueAt(item, stage));
      } else {
        WriteOutput(item, end.output, stage);
      }
    }
  }

  // Uses the Rescale for the value of that stage, unless another one is used already.
  void Keep(const GraphRegion::ExistingRescale& rescale, int stage) {
    maybe_unused_.push_back(rescale.node);
    if (stage < 0) return;
    NodeId& kept = rescales_[stage];
    if (!kept) {
      kept = rescale.node;
      return;
    }
    NodeId duplicate = rescale.node;
    if (rescale.is_output) {
      if (graph_.IsOutput(graph_.node(kept).result())) return;  // each computes its own output
      std::swap(kept, duplicate);
    }
    duplicates_.emplace_back(graph_.node(duplicate).result(), graph_.node(kept).result());
  }

  void WriteOutput(size_t item, ValueId output, int stage) {
    const ValueId value = ValueAt(item, stage);
    if (value == output) return;
    const NodeId own = graph_.value(output).producer;
    if (rescales_[stage] && values_[stage] == graph_.node(rescales_[stage]).result()) {
      // Another output has the same type.
      graph_.SetInput(own, 0, graph_.node(rescales_[stage]).inputs[0]);
      return;
    }
    graph_.SetInput(own, 0, value);
    outputs_.emplace_back(output, value);
  }

  // The stage at the end of the labels; -1 for a Rescale that is on no consumer's path.
  int StageBelow(size_t item, int from, const std::vector<int>& labels) const {
    const Value& value = built_.problem.values[item];
    const int stages = static_cast<int>(value.stages.size());
    for (const int label : labels) {
      int next = from + 1;
      while (next < stages &&
             (value.stages[next].parent != from || built_.labels[item][next] != label)) {
        ++next;
      }
      if (next == stages) return -1;
      from = next;
    }
    return from;
  }

  ir::Type TypeAt(size_t item, int stage) const {
    ir::Type type = region_.labels[built_.labels[item][stage]];
    type.shape = graph_.type(region_.values[item]).shape;
    return type;
  }

  ValueId ValueAt(size_t item, int stage) {
    if (values_[stage]) return values_[stage];
    const ValueId source = ValueAt(item, built_.problem.values[item].stages[stage].parent);
    if (const NodeId rescale = rescales_[stage]) {
      graph_.SetInput(rescale, 0, source);
      return values_[stage] = graph_.node(rescale).result();
    }
    const std::string name = graph_.UniqueName(graph_.name(region_.values[item]) + ".r");
    Graph::Definition definition{.op = ops::FindOp("Rescale", "octavo"),
                                 .inputs = {source},
                                 .results = {{name, TypeAt(item, stage)}}};
    const NodeId producer = graph_.value(source).producer;
    const NodeId made = producer ? graph_.InsertAfter(producer, std::move(definition))
                                 : graph_.InsertBefore(graph_.first(), std::move(definition));
    return values_[stage] = graph_.node(made).result();
  }

  Graph& graph_;
  const GraphRegion& region_;
  const Built& built_;
  const Positions& positions_;
  std::vector<ValueId> values_;   // by stage of the current item
  std::vector<NodeId> rescales_;  // likewise: the Rescale used for it
  std::vector<std::pair<ValueId, ValueId>>
      duplicates_;                    // results of duplicates and of the kept Rescales
  std::vector<NodeId> maybe_unused_;  // erased if they have lost their consumers
  std::vector<std::pair<ValueId, ValueId>> outputs_;  // outputs and the values that they become
};

}  // namespace

bool HasDuplicates(const std::vector<GraphRegion::ExistingRescale>& rescales) {
  for (size_t i = 0; i < rescales.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool outputs = rescales[i].is_output && rescales[j].is_output;
      if (rescales[i].labels == rescales[j].labels && !outputs) return true;
    }
  }
  return false;
}

Result<std::vector<Move>> Write(Graph& graph, const GraphRegion& region, const Built& built,
                                Positions positions) {
  // Ends do not move here: their own rule folds a Rescale once it is adjacent.
  for (size_t a = 0; a < positions.size(); ++a) {
    if (region.region.actors[a].kind != Actor::Kind::kMover) positions[a] = 0;
  }
  return Writer(graph, region, built, positions).Run();
}

}  // namespace octavo::passes::placement

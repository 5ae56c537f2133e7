// SPDX-License-Identifier: Apache-2.0
// Finds the classes of channel_classes.h: goes through the nodes in order and merges labels.
#pragma once

#include <optional>
#include <vector>

#include "core/passes/equalize/channel_classes.h"

namespace octavo::passes {

// Whether the value is an f32 constant.
bool IsFloatConstant(const ir::Graph& graph, ir::ValueId id);

// Labels are numbers that a union-find structure merges; the label kFixed absorbs all others.
class ClassBuilder {
 public:
  explicit ClassBuilder(const ir::Graph& graph) : graph_(graph), labels_(graph.value_bound()) {}

  // The classes of the graph's channels.
  struct Result {
    std::vector<std::optional<Labels>> labels = {};  // by value
    std::vector<LayerClasses> layers = {};
    std::vector<VectorClasses> vectors = {};
    size_t size = 0;
  };
  Result Run();

  // ------------------------------------------------------------ for the rules of ops
  const ir::Graph& graph() const { return graph_; }
  int32_t Find(int32_t id);
  void Merge(int32_t a, int32_t b);
  // New labels, one per index of the axis.
  Labels New(size_t rank, size_t axis, int64_t count);
  // The labels of an operand, merged so far; kFixed for a constant.
  Labels Of(ir::ValueId id);
  void Set(ir::ValueId id, Labels labels) { labels_[id.index] = std::move(labels); }
  void Fix(ir::ValueId id);
  // Fixes the operands and the results.
  void FixNode(const ir::Node& node);
  // Merges the labels along this axis.
  Labels Collapsed(const Labels& labels, size_t axis);
  // The factors of the node's result divide this operand, an f32 constant.
  void Divide(ir::NodeId node, size_t input, Labels labels) {
    vectors_.push_back({node, input, std::move(labels)});
  }
  void AddLayer(LayerClasses layer) { layers_.push_back(std::move(layer)); }

 private:
  void ShareConstants();
  Result Finish();

  const ir::Graph& graph_;
  std::vector<int32_t> parent_ = {kFixed};
  std::vector<std::optional<Labels>> labels_;
  std::vector<LayerClasses> layers_;
  std::vector<VectorClasses> vectors_;
};

// Gives the results of a node labels, by the rule of its op; fixes those of a node without a rule.
void LabelNode(ClassBuilder& builder, ir::NodeId id);

}  // namespace octavo::passes

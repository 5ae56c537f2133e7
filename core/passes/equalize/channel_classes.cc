// SPDX-License-Identifier: Apache-2.0
#include "core/passes/equalize/channel_classes.h"

#include <algorithm>
#include <map>

#include "core/passes/equalize/class_builder.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

bool IsFloat(const Graph& graph, ValueId id) { return graph.type(id).dtype == ir::DType::kF32; }

// The places where a constant is scaled: positions in the builder's lists.
struct Scalings {
  std::vector<size_t> layers = {}, vectors = {};

  size_t size() const { return layers.size() + vectors.size(); }
};

// Whether equal labels give both layers the same weights.
bool SameForm(const Graph& graph, const profile::Layer& a, const profile::Layer& b) {
  const Node &first = graph.node(a.node), &second = graph.node(b.node);
  return first.op == second.op &&
         first.attributes.Int("transB", 0) == second.attributes.Int("transB", 0) &&
         a.groups == b.groups && a.terms == b.terms && a.channels == b.channels && a.unit == b.unit;
}

void MergeAll(const std::vector<int32_t>& a, const std::vector<int32_t>& b, ClassBuilder& builder) {
  for (size_t i = 0; i < a.size(); ++i) builder.Merge(a[i], b[i]);
}

void FixAll(const std::vector<int32_t>& ids, ClassBuilder& builder) {
  for (const int32_t id : ids) builder.Merge(id, kFixed);
}

}  // namespace

bool IsFloatConstant(const Graph& graph, ValueId id) {
  return id && graph.IsConstant(id) && IsFloat(graph, id);
}

int32_t ClassBuilder::Find(int32_t id) {
  while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
  return id;
}

// The smaller number represents both, so kFixed remains itself.
void ClassBuilder::Merge(int32_t a, int32_t b) {
  a = Find(a);
  b = Find(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

Labels ClassBuilder::New(size_t rank, size_t axis, int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<int32_t>(parent_.size()));
    parent_.push_back(ids.back());
  }
  return count > 0 ? Labels::Along(rank, axis, std::move(ids)) : Labels::Uniform(rank, kFixed);
}

Labels ClassBuilder::Of(ValueId id) {
  const std::optional<Labels>& own = labels_[id.index];
  if (!own) return Labels::Uniform(graph_.type(id).shape.size(), kFixed);
  std::vector<int32_t> ids = own->ids;
  for (int32_t& each : ids) each = Find(each);
  return Labels::Of(own->shape, std::move(ids));
}

void ClassBuilder::Fix(ValueId id) {
  if (labels_[id.index]) FixAll(labels_[id.index]->ids, *this);
}

void ClassBuilder::FixNode(const Node& node) {
  for (const ValueId input : node.inputs) {
    if (input) Fix(input);
  }
  for (const ValueId result : node.results) {
    if (result && IsFloat(graph_, result)) {
      Set(result, Labels::Uniform(graph_.type(result).shape.size(), kFixed));
    }
  }
}

Labels ClassBuilder::Collapsed(const Labels& labels, size_t axis) {
  if (!labels.VariesAlong(axis)) return labels;
  const int64_t inner = ir::StridesOf(labels.shape)[axis], extent = labels.shape[axis];
  std::vector<int32_t> ids = labels.ids;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    Merge(ids[i], ids[at / (inner * extent) * (inner * extent) + at % inner]);
  }
  for (int32_t& id : ids) id = Find(id);
  return Labels::Of(labels.shape, std::move(ids));
}

// Constants with several consumers keep one set of elements: either all consumers scale it alike,
// or none does.
void ClassBuilder::ShareConstants() {
  std::map<int32_t, Scalings> by_constant;
  for (size_t i = 0; i < layers_.size(); ++i) {
    by_constant[layers_[i].layer.weight.index].layers.push_back(i);
  }
  for (size_t i = 0; i < vectors_.size(); ++i) {
    const ValueId constant = graph_.node(vectors_[i].node).inputs[vectors_[i].input];
    by_constant[constant.index].vectors.push_back(i);
  }
  for (const auto& [index, scalings] : by_constant) {
    bool alike = graph_.CountUses(ValueId{index}) == static_cast<int>(scalings.size()) &&
                 (scalings.layers.empty() || scalings.vectors.empty());
    for (const size_t i : scalings.layers) {
      alike = alike && SameForm(graph_, layers_[i].layer, layers_[scalings.layers[0]].layer);
    }
    for (const size_t i : scalings.vectors) {
      alike = alike && vectors_[i].labels.shape == vectors_[scalings.vectors[0]].labels.shape;
    }
    for (const size_t i : scalings.layers) {
      const LayerClasses& first = layers_[scalings.layers[0]];
      if (alike) {
        MergeAll(layers_[i].data, first.data, *this);
        MergeAll(layers_[i].result, first.result, *this);
      } else {
        FixAll(layers_[i].data, *this);
        FixAll(layers_[i].result, *this);
      }
    }
    for (const size_t i : scalings.vectors) {
      if (alike) {
        MergeAll(vectors_[i].labels.ids, vectors_[scalings.vectors[0]].labels.ids, *this);
      } else {
        FixAll(vectors_[i].labels.ids, *this);
      }
    }
  }
}

ClassBuilder::Result ClassBuilder::Finish() {
  Result result{.labels = std::vector<std::optional<Labels>>(labels_.size()),
                .layers = std::move(layers_),
                .vectors = std::move(vectors_),
                .size = parent_.size()};
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i]) result.labels[i] = Of(ValueId{static_cast<int32_t>(i)});
  }
  for (LayerClasses& layer : result.layers) {
    for (int32_t& id : layer.data) id = Find(id);
    for (int32_t& id : layer.result) id = Find(id);
  }
  for (VectorClasses& vector : result.vectors) {
    for (int32_t& id : vector.labels.ids) id = Find(id);
  }
  return result;
}

ClassBuilder::Result ClassBuilder::Run() {
  for (const ValueId input : graph_.inputs()) {
    if (IsFloat(graph_, input)) {
      Set(input, Labels::Uniform(graph_.type(input).shape.size(), kFixed));
    }
  }
  for (const NodeId id : graph_.nodes()) LabelNode(*this, id);
  for (const ValueId output : graph_.outputs()) Fix(output);
  ShareConstants();
  return Finish();
}

ChannelClasses::ChannelClasses(const Graph& graph) {
  ClassBuilder::Result built = ClassBuilder(graph).Run();
  labels_ = std::move(built.labels);
  layers_ = std::move(built.layers);
  vectors_ = std::move(built.vectors);
  size_ = built.size;
}

const Labels* ChannelClasses::Of(ValueId id) const {
  return labels_[id.index] ? &*labels_[id.index] : nullptr;
}

bool ChannelClasses::IsFree(ValueId id) const {
  const Labels* labels = Of(id);
  return labels != nullptr &&
         std::ranges::any_of(labels->ids, [](int32_t each) { return each != kFixed; });
}

std::optional<size_t> ChannelClasses::AxisOf(ValueId id) const {
  if (!IsFree(id)) return std::nullopt;
  const Labels& labels = *Of(id);
  std::optional<size_t> axis;
  for (size_t i = 0; i < labels.shape.size(); ++i) {
    if (!labels.VariesAlong(i)) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  return axis;
}

std::vector<int> ChannelAxesOf(const Graph& graph) {
  const ChannelClasses classes(graph);
  std::vector<int> axes(graph.value_bound(), -1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (graph.value(id).erased) continue;
    if (const std::optional<size_t> axis = classes.AxisOf(id)) axes[i] = static_cast<int>(*axis);
  }
  return axes;
}

}  // namespace octavo::passes

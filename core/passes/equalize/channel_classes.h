// SPDX-License-Identifier: Apache-2.0
// Which channels of a float graph may be divided by a positive factor of their own without a change
// of the graph's outputs.  Two channels are of one class if they must have the same factor, as
// after an Add.  The weights of a layer take up the factors of its operand and its result: they are
// multiplied by the one and divided by the other, so those need not be equal.  Class kFixed can
// only have the factor 1.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ir/graph.h"
#include "core/passes/equalize/labels.h"
#include "core/profile/layer.h"

namespace octavo::passes {

inline constexpr int32_t kFixed = 0;

// A layer (profile/layer.h) with the classes of its channels: kFixed where it takes up nothing.
struct LayerClasses {
  profile::Layer layer = {};
  std::vector<int32_t> data = {};    // of the operand's channels, over all groups
  std::vector<int32_t> result = {};  // of the result's

  bool depthwise() const { return layer.terms == layer.unit; }
};

// A constant operand that is divided by the factors of its node's result: the addend of an Add, a
// bias, the scale of a normalization.  The labels are the constant's, to which they broadcast.
struct VectorClasses {
  ir::NodeId node = {};
  size_t input = 0;
  Labels labels = {};
};

class ChannelClasses {
 public:
  // The graph must not change while the classes are in use.
  explicit ChannelClasses(const ir::Graph& graph);

  // The classes of a value's elements; null for constants and values that are not f32.
  const Labels* Of(ir::ValueId id) const;
  // Whether some element may have a factor.
  bool IsFree(ir::ValueId id) const;
  // The only axis along which the classes of a free value vary.
  std::optional<size_t> AxisOf(ir::ValueId id) const;

  std::span<const LayerClasses> layers() const { return layers_; }
  std::span<const VectorClasses> vectors() const { return vectors_; }
  // One past the largest class.
  size_t size() const { return size_; }

 private:
  std::vector<std::optional<Labels>> labels_;  // by value
  std::vector<LayerClasses> layers_;
  std::vector<VectorClasses> vectors_;
  size_t size_ = 0;
};

// For each value the axis whose channels have ranges of their own in a profile, for the pass
// `equalize`; -1: none.
std::vector<int> ChannelAxesOf(const ir::Graph& graph);

}  // namespace octavo::passes

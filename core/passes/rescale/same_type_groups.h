// SPDX-License-Identifier: Apache-2.0
// Groups of values that same-scale ops require to have one type: operands and result of a Concat or
// a MaxPool and, on a target that requires it, the operands of an Add.  A type can only change for
// a whole group.
#pragma once

#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// The groups of a graph; float values and values of per-channel types belong to no group.
class SameTypeGroups {
 public:
  SameTypeGroups(const ir::Graph& graph, const target::Target& target);

  int size() const { return static_cast<int>(members_.size()); }
  // The group of a value, or -1.
  int Of(ir::ValueId id) const {
    return static_cast<size_t>(id.index) < group_.size() ? group_[id.index] : -1;
  }
  const std::vector<ir::ValueId>& members(int group) const { return members_[group]; }
  const ir::Type& TypeOf(int group) const { return graph_.type(members_[group].front()); }
  // Whether operands and results of the node must have identical quantization parameters.
  bool IsSameScale(const ir::Node& node) const;
  // "" if the group can have the dtype and parameters of `type`; else the reason.
  std::string WhyStays(int group, const ir::Type& type) const;

 private:
  const ir::Graph& graph_;
  const target::Target& target_;
  std::vector<int> group_ = {};  // by value
  std::vector<std::vector<ir::ValueId>> members_ = {};

  std::string WhyProducerStays(ir::ValueId id, const ir::Type& type) const;
  std::string WhyConsumerStays(const ir::Use& use, ir::ValueId id, const ir::Type& type) const;
};

// Sets the dtype and parameters of all members to those of `type`, which WhyStays must allow, and
// re-expresses the biases of their consumers.
Status Retype(ir::Graph& graph, const std::vector<ir::ValueId>& members, const ir::Type& type,
              int bias_bits);

}  // namespace octavo::passes

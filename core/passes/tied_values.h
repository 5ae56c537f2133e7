// Values that must have one type since ops hand codes on between them: what a Concat joins, what a
// MaxPool reads and gives, and on a target that wants it so the operands of an Add.  A type can
// only change for all of them at once.
#pragma once

#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// The groups of a graph as it stands; values of per-channel types and floats are in none.
class TiedValues {
 public:
  TiedValues(const ir::Graph& graph, const target::Target& target);

  int size() const { return static_cast<int>(members_.size()); }
  // The group of a value, or -1.
  int Of(ir::ValueId id) const {
    return static_cast<size_t>(id.index) < group_.size() ? group_[id.index] : -1;
  }
  const std::vector<ir::ValueId>& members(int group) const { return members_[group]; }
  const ir::Type& TypeOf(int group) const { return graph_.type(members_[group].front()); }
  // Whether the node hands codes on from its operands to its results.
  bool HandsOn(const ir::Node& node) const;
  // "" where the group can have the dtype and parameters of `type`, else the reason.
  std::string WhyStays(int group, const ir::Type& type) const;

 private:
  const ir::Graph& graph_;
  const target::Target& target_;
  std::vector<int> group_ = {};  // by value
  std::vector<std::vector<ir::ValueId>> members_ = {};

  std::string WhyProducerStays(ir::ValueId id, const ir::Type& type) const;
  std::string WhyReaderStays(const ir::Use& use, ir::ValueId id, const ir::Type& type) const;
};

// Gives all members the dtype and parameters of `type`, which WhyStays must allow; their readers'
// biases are re-expressed.
Status Retype(ir::Graph& graph, const std::vector<ir::ValueId>& members, const ir::Type& type,
              int bias_bits);

}  // namespace octavo::passes

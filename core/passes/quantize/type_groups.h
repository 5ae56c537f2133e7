// SPDX-License-Identifier: Apache-2.0
// Values that must have one type, as a union-find forest.  The target may fix the type of some, and
// the job may ask for 16-bit integers (--int16).
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/target/target.h"

namespace octavo::passes {

class TypeGroups {
 public:
  explicit TypeGroups(size_t values) : parent_(values) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  void Fix(ir::ValueId id, const target::FixedResult& type) {
    fixed_.insert_or_assign(Of(id), type);
  }
  const target::FixedResult* FixedOf(ir::ValueId id) {
    const auto at = fixed_.find(Of(id));
    return at == fixed_.end() ? nullptr : &at->second;
  }
  int32_t Of(ir::ValueId id) {
    int32_t at = id.index;
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  // Two groups with different fixed types are not joined.
  void Join(ir::ValueId a, ir::ValueId b) {
    const target::FixedResult *left = FixedOf(a), *right = FixedOf(b);
    if (left && right && *left != *right) return;
    const std::optional<target::FixedResult> fixed = left    ? std::optional(*left)
                                                     : right ? std::optional(*right)
                                                             : std::nullopt;
    parent_[Of(a)] = Of(b);
    if (fixed) Fix(b, *fixed);
  }
  // Call when all groups are joined.
  void Widen(ir::ValueId id) { wide_.insert(Of(id)); }
  bool IsWide(ir::ValueId id) { return wide_.contains(Of(id)); }

 private:
  std::vector<int32_t> parent_;
  std::unordered_map<int32_t, target::FixedResult> fixed_;  // by root
  std::set<int32_t> wide_;                                  // roots
};

}  // namespace octavo::passes

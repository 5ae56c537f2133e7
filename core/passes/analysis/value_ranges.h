// SPDX-License-Identifier: Apache-2.0
// The range of a value before quantization: the profile's entry under the value's own name, else
// under one of its aliases, else the range that a rule derived for a value that it added.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// The ranges of a graph's values; values added later have none.
class ValueRanges {
 public:
  ValueRanges(const ir::Graph& graph, const Settings& settings, const Findings& findings);

  // Null if unknown.  Constants have no entry: their elements determine their range.
  const profile::Entry* Of(ir::ValueId id) const {
    return static_cast<size_t>(id.index) < entries_.size() ? entries_[id.index] : nullptr;
  }

 private:
  std::vector<const profile::Entry*> entries_;  // by value
  std::deque<profile::Entry> derived_;
};

// The range of one value while rewrites derive ranges; for a constant, that of its elements.
std::optional<ir::Range> KnownRange(const ir::Graph& graph, const Context& context,
                                    const ValueRanges& ranges, ir::ValueId id);

// Records the derived range of a new value; nullopt records nothing.
void DeriveRange(Context& context, std::string_view name, std::optional<ir::Range> range);
// The ranges of a + b and of a - b.
std::optional<ir::Range> Plus(std::optional<ir::Range> a, std::optional<ir::Range> b);
std::optional<ir::Range> Minus(std::optional<ir::Range> a, std::optional<ir::Range> b);

}  // namespace octavo::passes

// What is known of a value's range before it is quantized: the profile's entry under the value's
// own name, else under a name that rewrites led to it, else a range that a rewrite derived for a
// value that it made.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// The ranges of a graph as it stands; values that are made later have none.
class ValueRanges {
 public:
  ValueRanges(const ir::Graph& graph, const Settings& settings, const Findings& findings);

  // Null where nothing is known.  Constants have none: their elements say it.
  const profile::Entry* Of(ir::ValueId id) const {
    return static_cast<size_t>(id.index) < entries_.size() ? entries_[id.index] : nullptr;
  }

 private:
  std::vector<const profile::Entry*> entries_;  // by value
  std::deque<profile::Entry> derived_;
};

// The same of one value, while rewrites derive ranges; a constant's is that of its elements.
std::optional<ir::Range> KnownRange(const ir::Graph& graph, const Context& context,
                                    const ValueRanges& ranges, ir::ValueId id);

// Notes the range of a new value, made from those of others; nothing where one of them is unknown.
void DeriveRange(Context& context, std::string_view name, std::optional<ir::Range> range);
// The ranges of a + b and of a - b.
std::optional<ir::Range> Plus(std::optional<ir::Range> a, std::optional<ir::Range> b);
std::optional<ir::Range> Minus(std::optional<ir::Range> a, std::optional<ir::Range> b);

}  // namespace octavo::passes

// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/value_ranges.h"

#include "core/passes/quantize/weight_type.h"

namespace octavo::passes {

using ir::Graph;
using ir::Range;
using ir::ValueId;

ValueRanges::ValueRanges(const Graph& graph, const Settings& settings, const Findings& findings)
    : entries_(graph.value_bound()) {
  const auto set = [&](ValueId id, const profile::Entry& entry) {
    if (id && entries_[id.index] == nullptr) entries_[id.index] = &entry;
  };
  if (settings.profile != nullptr) {
    std::vector<const std::pair<const std::string, profile::Entry>*> forwarded;
    for (const auto& named : settings.profile->values) {
      const ValueId own = graph.Find(named.first);
      set(own, named.second);
      if (!own) forwarded.push_back(&named);
    }
    // The range of a forwarded value applies to the value that replaced it.
    for (const auto* named : forwarded) set(graph.Resolve(named->first), named->second);
  }
  for (const auto& [name, range] : findings.derived_ranges) {
    derived_.push_back({.min = range.min, .max = range.max});
    set(graph.Find(name), derived_.back());
  }
}

std::optional<Range> KnownRange(const Graph& graph, const Context& context,
                                const ValueRanges& ranges, ValueId id) {
  if (graph.IsConstant(id)) {
    const ir::Tensor& tensor = graph.value(id).constant->tensor;
    if (tensor.dtype() != ir::DType::kF32) return std::nullopt;
    return RangeOf(tensor);
  }
  if (const profile::Entry* entry = ranges.Of(id)) return Range{entry->min, entry->max};
  const auto& derived = context.findings().derived_ranges;
  const auto at = derived.find(graph.name(id));
  return at == derived.end() ? std::nullopt : std::optional(at->second);
}

void DeriveRange(Context& context, std::string_view name, std::optional<Range> range) {
  if (range) context.findings().derived_ranges.insert_or_assign(std::string(name), *range);
}

std::optional<Range> Plus(std::optional<Range> a, std::optional<Range> b) {
  if (!a || !b) return std::nullopt;
  return Range{a->min + b->min, a->max + b->max};
}

std::optional<Range> Minus(std::optional<Range> a, std::optional<Range> b) {
  if (!a || !b) return std::nullopt;
  return Range{a->min - b->max, a->max - b->min};
}

}  // namespace octavo::passes

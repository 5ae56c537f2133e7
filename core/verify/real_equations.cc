// SPDX-License-Identifier: Apache-2.0
// Equations of real numbers: a rounding is nothing, and a type is a clamp to the values that it can
// hold.
#include <algorithm>
#include <cmath>

#include "core/verify/term.h"

namespace octavo::verify {
namespace {

struct Ranges {
  Interval any = {}, every = {};  // the hull and the intersection of the channels' ranges
};
std::optional<Ranges> RangesOfType(const ir::Type& type) {
  if (!type.quant) return std::nullopt;
  std::optional<Ranges> ranges;
  for (size_t c = 0; c < type.quant->scales.size(); ++c) {
    const Grid grid = Grid::Of(type, static_cast<int64_t>(c));
    const double scale = grid.scale;
    const Interval one{static_cast<double>(grid.least - grid.zero_point) * scale,
                       static_cast<double>(grid.most - grid.zero_point) * scale, scale / 2};
    if (!ranges) {
      ranges = {one, one};
      continue;
    }
    ranges->any = {std::min(ranges->any.low, one.low), std::max(ranges->any.high, one.high), 0};
    ranges->every = {std::max(ranges->every.low, one.low), std::min(ranges->every.high, one.high),
                     std::min(ranges->every.slack, one.slack)};
  }
  return ranges;
}

bool Inside(const Interval& inner, const Interval& outer) {
  return inner.low > outer.low - outer.slack && inner.high < outer.high + outer.slack;
}

}  // namespace

// That of a constant is computed when it is first asked for.
const std::optional<Interval>& Terms::RangeOf(TermId id) {
  Term& term = terms_[id];
  if (term.kind != Term::Kind::kConstant || term.range) return term.range;
  const auto values = ValuesOf(id);
  if (!values || values->empty()) return term.range;
  const auto [low, high] = std::minmax_element(values->begin(), values->end());
  term.range = Interval{*low, *high, 0};
  return term.range;
}

std::optional<Interval> Terms::RangeOf(const Term& term) {
  if (term.kind == Term::Kind::kClamp) return term.clamp;
  if (term.kind == Term::Kind::kSymbol) {
    const auto ranges = RangesOfType(term.type);
    return ranges ? std::optional(ranges->any) : std::nullopt;
  }
  if (term.selects) {
    std::optional<Interval> all;
    for (size_t i = 0; i < term.operands.size(); ++i) {
      if (term.operands[i] == kAbsent || term.op->RoleOf(i) != ir::Role::kData) continue;
      const auto range = RangeOf(term.operands[i]);
      if (!range) return std::nullopt;
      if (!all) all = range;
      all = Interval{std::min(all->low, range->low), std::max(all->high, range->high), 0};
    }
    return all;
  }
  if (term.moves) {
    auto range = RangeOf(term.operands[0]);
    if (range && term.fills) range = {std::min(range->low, 0.0), std::max(range->high, 0.0), 0};
    return range;
  }
  return std::nullopt;
}

TermId Terms::Clamped(TermId operand, const Interval& clamp) {
  if (const auto& range = RangeOf(operand); range && Inside(*range, clamp)) return operand;
  const Term under = terms_[operand];
  const Descent descent(*this, under);
  const bool changes_fill = under.fills && (clamp.low > 0 || clamp.high < 0);
  if (descent.allowed && (under.selects || (under.moves && !changes_fill))) {
    Term below = under;
    for (size_t i = 0; i < under.operands.size(); ++i) {
      if (under.operands[i] == kAbsent || under.op->RoleOf(i) != ir::Role::kData) continue;
      below.operands[i] = Clamped(under.operands[i], clamp);
    }
    return Build(std::move(below));
  }
  if (descent.allowed && under.kind == Term::Kind::kClamp) {
    if (Inside(clamp, under.core)) return Clamped(under.operands[0], clamp);
    if (under.name.empty()) {
      return Clamped(under.operands[0], {std::clamp(under.clamp.low, clamp.low, clamp.high),
                                         std::clamp(under.clamp.high, clamp.low, clamp.high),
                                         std::max(under.clamp.slack, clamp.slack)});
    }
  }
  return Intern({.kind = Term::Kind::kClamp,
                 .operands = {operand},
                 .clamp = clamp,
                 .core = clamp,
                 .type = under.type.Expressed()});
}

// The op on real numbers, then the clamp of the result's type.
TermId Terms::BuildReal(Term term) {
  const ir::Type stored = term.type;
  term.type = stored.Expressed();
  TermId id = kAbsent;
  const bool one = term.operands.size() == 1 && term.operands[0] != kAbsent;
  if (one && IsConversion(term)) {
    id = term.operands[0];
  } else if (one && Is(term, "Relu")) {
    id = Clamped(term.operands[0], {0, INFINITY, 0});
  } else if (Is(term, "Clip")) {
    const auto clamp = ClampOf(term);
    if (clamp && clamp->low <= clamp->high) id = Clamped(term.operands[0], *clamp);
  }
  for (const auto equation : {&Terms::Unchanged, &Terms::PlainBias, &Terms::FoldedAffine,
                              &Terms::Moved, &Terms::Rewritten}) {
    if (id == kAbsent) id = (this->*equation)(term);
  }
  if (id == kAbsent) id = Intern(std::move(term));
  if (level_ == Level::kReal || !stored.quant) return id;
  return stored.quant->per_tensor() ? Clamped(id, RangesOfType(stored)->any)
                                    : ClampedPerChannel(id, stored);
}

// An uninterpreted clamp, but for a constant that it does not change.
TermId Terms::ClampedPerChannel(TermId operand, const ir::Type& type) {
  const Ranges ranges = *RangesOfType(type);
  if (const auto& range = RangeOf(operand); range && Inside(*range, ranges.every)) return operand;
  const Term& under = terms_[operand];
  const Descent descent(*this, under);
  const bool wider = under.kind == Term::Kind::kClamp && Inside(ranges.any, under.core);
  if (wider && descent.allowed) return ClampedPerChannel(under.operands[0], type);
  if (const auto values = ValuesOf(operand)) {
    bool inside = true;
    for (size_t i = 0; inside && i < values->size(); ++i) {
      const Grid grid = Grid::Of(type, ir::ScaleOf(type, static_cast<int64_t>(i)));
      const double steps = (*values)[i] / grid.scale + grid.zero_point;
      inside = steps > static_cast<double>(grid.least) - 0.5 &&
               steps < static_cast<double>(grid.most) + 0.5;
    }
    if (inside) return operand;
  }
  return Intern({.kind = Term::Kind::kClamp,
                 .name = TypeKey(type),
                 .operands = {operand},
                 .clamp = ranges.any,
                 .core = ranges.every,
                 .type = type.Expressed()});
}

}  // namespace octavo::verify

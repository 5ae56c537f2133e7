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

std::optional<Interval> Terms::RangeOf(TermId id) const {
  const Term& term = terms_[id];
  if (term.kind == Term::Kind::kClamp) return term.clamp;
  if (term.kind == Term::Kind::kSymbol) {
    const auto ranges = RangesOfType(term.type);
    return ranges ? std::optional(ranges->any) : std::nullopt;
  }
  if (term.kind == Term::Kind::kConstant) {
    const auto values = RealValuesOf(term.constant->tensor, term.type);
    if (!values || values->empty()) return std::nullopt;
    const auto [low, high] = std::minmax_element(values->begin(), values->end());
    return Interval{*low, *high, 0};
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
  const Term under = terms_[operand];
  if (const auto range = RangeOf(operand); range && Inside(*range, clamp)) return operand;
  if (under.moves && (!under.fills || (clamp.low <= 0 && clamp.high >= 0))) {
    Term move = under;
    move.operands[0] = Clamped(under.operands[0], clamp);
    return Build(std::move(move));
  }
  if (under.selects) {
    Term selection = under;
    for (size_t i = 0; i < under.operands.size(); ++i) {
      if (under.operands[i] == kAbsent || under.op->RoleOf(i) != ir::Role::kData) continue;
      selection.operands[i] = Clamped(under.operands[i], clamp);
    }
    return Build(std::move(selection));
  }
  if (under.kind == Term::Kind::kClamp) {
    if (Inside(clamp, under.core)) return Clamped(under.operands[0], clamp);
    if (!under.name.empty()) {
      return Intern({.kind = Term::Kind::kClamp,
                     .operands = {operand},
                     .clamp = clamp,
                     .core = clamp,
                     .type = under.type});
    }
    const Interval both{std::clamp(under.clamp.low, clamp.low, clamp.high),
                        std::clamp(under.clamp.high, clamp.low, clamp.high),
                        std::max(under.clamp.slack, clamp.slack)};
    return Clamped(under.operands[0], both);
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
  if (one && (IsOwn(term, "Quantize") || IsOwn(term, "Dequantize") || IsOwn(term, "Rescale"))) {
    id = term.operands[0];
  } else if (one && Is(term, "Relu")) {
    id = Clamped(term.operands[0], {0, INFINITY, 0});
  } else if (Is(term, "Clip")) {
    const auto clamp = ClampOf(term);
    if (clamp && clamp->low <= clamp->high) id = Clamped(term.operands[0], *clamp);
  }
  if (id == kAbsent) id = Unchanged(term);
  if (id == kAbsent) id = PlainBias(term);
  if (id == kAbsent) id = FoldedAffine(term);
  if (id == kAbsent) id = Moved(term);
  if (id == kAbsent) id = Rewritten(term);
  if (id == kAbsent) id = Intern(std::move(term));
  if (level_ == Level::kReal) return id;
  if (!stored.quant) return id;
  return stored.quant->per_tensor() ? Clamped(id, RangesOfType(stored)->any)
                                    : ClampedPerChannel(id, stored);
}

// An uninterpreted clamp, but for a constant that it does not change.
TermId Terms::ClampedPerChannel(TermId operand, const ir::Type& type) {
  const Term& under = terms_[operand];
  const Ranges ranges = *RangesOfType(type);
  if (const auto range = RangeOf(operand); range && Inside(*range, ranges.every)) return operand;
  if (under.kind == Term::Kind::kClamp && Inside(ranges.any, under.core)) {
    return ClampedPerChannel(under.operands[0], type);
  }
  if (under.kind == Term::Kind::kConstant) {
    const auto values = RealValuesOf(under.constant->tensor, under.type);
    bool inside = values.has_value();
    for (size_t i = 0; inside && i < values->size(); ++i) {
      const Grid grid = Grid::Of(type, ChannelOf(type, static_cast<int64_t>(i)));
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

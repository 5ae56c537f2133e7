// SPDX-License-Identifier: Apache-2.0
// Functions of one stored integer, by enumeration of its values.
#include <algorithm>
#include <cmath>

#include "core/verify/term.h"

namespace octavo::verify {

constexpr int64_t kMaxTableEntries = int64_t{1} << 26;

bool HasTable(const ir::Type& type) {
  return type.quant && type.quant->per_tensor() && ir::SizeOf(type.dtype) <= 2;
}

// Clamp(Dequantize(x)) = Dequantize(Clamp(x)) if x's type holds every clamped value.
TermId Terms::BelowDequantize(const Term& term) {
  if ((!Is(term, "Relu") && !Is(term, "Clip")) || term.operands[0] == kAbsent) return kAbsent;
  const Term& operand = terms_[term.operands[0]];
  if (!IsOwn(operand, "Dequantize")) return kAbsent;
  const TermId source = operand.operands[0];
  const ir::Type type = terms_[source].type;
  if (!HasTable(type) || table_entries_ > kMaxTableEntries) return kAbsent;
  const auto clamp = ClampOf(term);
  if (!clamp) return kAbsent;
  const Grid grid = Grid::Of(type);
  Table table;
  for (int64_t stored = grid.least; stored <= grid.most; ++stored) {
    const auto real = static_cast<double>(RealOf(stored, grid));
    const auto clamped = static_cast<float>(std::min(std::max(real, clamp->low), clamp->high));
    const int64_t held = QuantizeReal(Mode::kOnnx, clamped, grid);
    if (RealOf(held, grid) != clamped) return kAbsent;
    table.push_back(static_cast<int32_t>(held));
  }
  Term same = operand;
  same.operands = {MakeTable(source, std::move(table), type)};
  return Build(std::move(same));
}

// The bounds of a Relu or Clip; nullopt if they are not constant.
std::optional<Interval> Terms::ClampOf(const Term& term) {
  Interval clamp{Is(term, "Relu") ? 0.0 : -INFINITY, INFINITY, 0};
  for (size_t i = 1; i < term.operands.size(); ++i) {
    if (term.operands[i] == kAbsent) continue;
    const TermId id = ConstantOf(term.operands[i]);
    const std::optional<double> bound = ScalarOf(id);
    if (!bound) return std::nullopt;
    (i == 1 ? clamp.low : clamp.high) = *bound;
  }
  return clamp;
}

TermId Terms::MakeTable(TermId operand, Table table, const ir::Type& type) {
  const Term under = terms_[operand];
  const int64_t least = ir::IntegerRangeOf(under.type.dtype).min;
  if (under.type.SameQuantization(type)) {
    bool identity = true;
    for (size_t i = 0; i < table.size() && identity; ++i) {
      identity = table[i] == least + static_cast<int64_t>(i);
    }
    if (identity) return operand;
  }
  if (under.kind == Term::Kind::kTable) {
    Table composed = *under.table;
    for (int32_t& entry : composed) entry = table[entry - least];
    return MakeTable(under.operands[0], std::move(composed), type);
  }
  const std::string key(reinterpret_cast<const char*>(table.data()),
                        table.size() * sizeof(table[0]));
  std::shared_ptr<const Table>& shared = tables_[key];
  if (!shared) {
    table_entries_ += static_cast<int64_t>(table.size());
    shared = std::make_shared<const Table>(std::move(table));
  }
  Term term{.kind = Term::Kind::kTable, .operands = {operand}, .table = shared, .type = type};
  const TermId moved = BelowMove(term);
  return moved != kAbsent ? moved : Intern(std::move(term));
}

// A function of one stored integer, by enumeration of its values; nullopt if the term is none.
// Outside the mode onnx, of the clamps only one at zero within one type is defined here.
std::optional<Table> Terms::TableOf(const Term& term, const ir::Type& from_type) {
  const bool pair = IsOwn(term, "Quantize"), rescale = IsOwn(term, "Rescale");
  const bool relu = Is(term, "Relu"), clip = Is(term, "Clip"), pool = Is(term, "AveragePool");
  const bool max = Is(term, "Max"), min = Is(term, "Min");
  const bool plain_relu = relu && mode_ != Mode::kOnnx && from_type.SameQuantization(term.type);
  const Grid from = Grid::Of(from_type), to = Grid::Of(term.type);
  Interval clamp{-INFINITY, INFINITY, 0};
  if (relu || clip) {
    const auto bounds = ClampOf(term);
    if (!bounds) return std::nullopt;
    clamp = *bounds;
  }
  if (max || min) {
    const TermId id = ConstantOf(term.operands[1]);
    const std::optional<double> bound = ScalarOf(id);
    // A quantized bound is compared as it is stored in the result's type.
    if (!bound || terms_[id].type.quant) return std::nullopt;
    (max ? clamp.low : clamp.high) = *bound;
  }
  if (!pair && !rescale && !plain_relu && mode_ != Mode::kOnnx) return std::nullopt;
  const float pooled = from.scale / (to.scale * 1.0f);
  Table table;
  for (int64_t stored = from.least; stored <= from.most; ++stored) {
    std::optional<int64_t> value;
    if (plain_relu) {
      value = std::max<int64_t>(stored, to.zero_point);
    } else if (pool) {
      const float sum = static_cast<float>(stored - from.zero_point) * pooled;
      value =
          std::clamp(static_cast<int64_t>(std::nearbyint(sum)) + to.zero_point, to.least, to.most);
    } else if (rescale) {
      value = RescaleStored(mode_, stored, from, to);
    } else {
      const auto real = static_cast<double>(RealOf(stored, from));
      value = QuantizeReal(mode_,
                           static_cast<float>(std::min(std::max(real, clamp.low), clamp.high)), to);
    }
    if (!value) return std::nullopt;
    table.push_back(static_cast<int32_t>(*value));
  }
  return table;
}

TermId Terms::AsTable(const Term& term) {
  if (term.kind != Term::Kind::kNode || !HasTable(term.type) || term.operands.empty() ||
      term.operands[0] == kAbsent || term.results != 1 || table_entries_ > kMaxTableEntries) {
    return kAbsent;
  }
  TermId source = term.operands[0];
  const bool pair = IsOwn(term, "Quantize") && IsOwn(terms_[source], "Dequantize");
  if (pair) source = terms_[source].operands[0];
  const bool one = Is(term, "AveragePool") && term.attributes.Has("kernel_shape") &&
                   terms_[source].type.shape == term.type.shape &&
                   AllAre(1, term.attributes.Ints("kernel_shape")) &&
                   AllAre(0, term.attributes.Ints("pads"));
  const bool bounded = (Is(term, "Max") || Is(term, "Min")) && term.operands.size() == 2 &&
                       terms_[source].type.shape == term.type.shape;
  if (!pair && !one && !bounded && !Is(term, "Relu") && !Is(term, "Clip") &&
      !IsOwn(term, "Rescale")) {
    return kAbsent;
  }
  if (!HasTable(terms_[source].type)) return kAbsent;
  std::optional<Table> table = TableOf(term, terms_[source].type);
  return table ? MakeTable(source, *std::move(table), term.type) : kAbsent;
}

}  // namespace octavo::verify

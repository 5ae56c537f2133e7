// SPDX-License-Identifier: Apache-2.0
// Equations that keep every stored element.
#include <algorithm>
#include <cmath>

#include "core/verify/term.h"

namespace octavo::verify {
namespace {

constexpr ir::OpDef OwnRow(std::string_view name) {
  return {.name = name, .domain = "octavo", .since = ir::kNotInOnnx};
}

bool PerTensor(const ir::Type& type) { return !type.quant || type.quant->per_tensor(); }

// Whether each result element depends on the element of operand 0 at the same index only; other
// operands are constants that all elements share.
bool IsElementwise(const Term& term) {
  if (term.kind == Term::Kind::kTable) return true;
  if (term.kind != Term::Kind::kNode || term.results != 1 || term.operands.empty()) return false;
  return IsConversion(term) || term.op->pointwise;
}

}  // namespace

TermId Terms::BuildNode(const ir::OpDef& op, std::vector<TermId> operands, const ir::Type& type) {
  return Build(
      {.kind = Term::Kind::kNode, .op = &op, .operands = std::move(operands), .type = type});
}

TermId Terms::Quantized(TermId real, const ir::Type& type) {
  if (level_ != Level::kExact) return real;
  static constexpr ir::OpDef kQuantize = OwnRow("Quantize");
  return BuildNode(kQuantize, {real}, Plain(type));
}

TermId Terms::Dequantized(TermId stored) {
  if (level_ != Level::kExact) return stored;
  static constexpr ir::OpDef kDequantize = OwnRow("Dequantize");
  return BuildNode(kDequantize, {stored}, terms_[stored].type.Expressed());
}

TermId Terms::BuildExact(Term term) {
  for (const auto equation :
       {&Terms::Unchanged, &Terms::BelowDequantize, &Terms::PlainBias, &Terms::Rewritten,
        &Terms::AsTable, &Terms::BelowMove, &Terms::Moved, &Terms::AboveSelection}) {
    if (const TermId id = (this->*equation)(term); id != kAbsent) return id;
  }
  return Intern(std::move(term));
}

// E(Move(x)) = Move(E(x)) for a function E of single elements.
TermId Terms::BelowMove(const Term& term) {
  if (!IsElementwise(term) || term.operands[0] == kAbsent) return kAbsent;
  const Term move = terms_[term.operands[0]];
  if (!move.moves || !PerTensor(term.type) || !PerTensor(move.type)) return kAbsent;
  if (move.fills && !KeepsZero(term)) return kAbsent;
  for (size_t i = 1; i < term.operands.size(); ++i) {
    const TermId id = term.operands[i];
    if (id != kAbsent && !ScalarOf(id)) return kAbsent;
  }
  const ir::Type& inner = terms_[move.operands[0]].type;
  const Descent descent(*this, move);
  if (!PerTensor(inner) || !descent.allowed) return kAbsent;
  Term below = term, above = move;
  below.operands[0] = move.operands[0];
  below.type.shape = inner.shape;
  above.operands[0] = below.kind == Term::Kind::kTable
                          ? MakeTable(below.operands[0], *below.table, below.type)
                          : Build(std::move(below));
  above.type = term.type;
  return Build(std::move(above));
}

// Whether a function of single elements gives the real zero for the real zero.
bool Terms::KeepsZero(const Term& term) const {
  if (term.kind == Term::Kind::kTable) {
    const ir::Type& from = terms_[term.operands[0]].type;
    const int64_t zero = from.quant->zero_point() - ir::IntegerRangeOf(from.dtype).min;
    return zero >= 0 && zero < static_cast<int64_t>(term.table->size()) &&
           (*term.table)[zero] == term.type.quant->zero_point();
  }
  return term.op->domain == "octavo";
}

// Ops that give operand 0 as it is.
TermId Terms::Unchanged(const Term& term) {
  if (term.kind != Term::Kind::kNode || term.operands.empty() || term.operands[0] == kAbsent ||
      term.results != 1 || !(TypeOn(terms_[term.operands[0]].type) == TypeOn(term.type))) {
    return kAbsent;
  }
  // The integers of a parameter, 1 where it is absent; nullopt if they are not constant.
  const auto ints = [&](size_t operand) -> std::optional<std::vector<int64_t>> {
    if (operand >= term.operands.size() || term.operands[operand] == kAbsent) return {{1}};
    const ir::PayloadPtr folded = Folded(term.operands[operand]);
    if (!folded || !ir::IsInteger(folded->tensor.dtype())) return std::nullopt;
    return folded->tensor.ToInts();
  };
  const auto positive = [&](size_t operand) {
    const auto steps = ints(operand);
    return steps && std::all_of(steps->begin(), steps->end(), [](int64_t x) { return x > 0; });
  };
  // With the shape unchanged, a Slice of positive steps takes every element, a Tile repeats once.
  bool unchanged =
      Is(term, "Identity") || Is(term, "Expand") || Is(term, "Tile") || Is(term, "Split") ||
      Is(term, "DepthToSpace") || Is(term, "SpaceToDepth") ||
      (Is(term, "Concat") && term.operands.size() == 1) ||
      ((Is(term, "Max") || Is(term, "Min") || Is(term, "Sum")) && term.operands.size() == 1);
  unchanged |= Is(term, "Slice") && positive(4);
  const auto pads = Is(term, "Pad") ? ints(1) : std::nullopt;
  unchanged |= pads && AllAre(0, *pads);
  // A mean of one float turns -0 into 0.
  const bool pool = Is(term, "MaxPool") || (Is(term, "AveragePool") && level_ != Level::kExact);
  unchanged |= pool && term.attributes.Has("kernel_shape") &&
               AllAre(1, term.attributes.Ints("kernel_shape")) &&
               AllAre(0, term.attributes.Ints("pads")) && !term.attributes.Has("auto_pad");
  return unchanged ? term.operands[0] : kAbsent;
}

// A bias of one element, or one row, has one element per column.
TermId Terms::PlainBias(const Term& term) {
  if (!Is(term, "Gemm") || term.operands.size() < 3 || term.operands[2] == kAbsent ||
      term.type.shape.size() != 2) {
    return kAbsent;
  }
  const ir::PayloadPtr bias = Folded(term.operands[2]);
  const ir::Shape plain = {term.type.shape[1]};
  const ir::Type& type = terms_[term.operands[2]].type;
  if (!bias || type.quant || bias->tensor.shape() == plain) return kAbsent;
  const int64_t columns = bias->tensor.rank() == 0 ? 1 : bias->tensor.shape().back();
  if (bias->tensor.size() != columns || (columns != 1 && columns != plain[0])) return kAbsent;
  ir::Tensor row(bias->tensor.dtype(), plain);
  const int size = ir::SizeOf(row.dtype());
  for (int64_t i = 0; i < plain[0]; ++i) {
    std::copy_n(bias->tensor.raw() + (columns == 1 ? 0 : i) * size, size,
                row.mutable_raw() + i * size);
  }
  Term same = term;
  same.operands[2] = Constant(ir::MakePayload(std::move(row)), {type.dtype, plain, {}, {}});
  return Build(std::move(same));
}

// A Transpose that keeps the order of all axes with more than one element.
bool Terms::OnlyMovesOnes(const Term& term) const {
  if (!Is(term, "Transpose")) return false;
  const ir::Shape& shape = terms_[term.operands[0]].type.shape;
  int64_t last = -1;
  const std::vector<int64_t> perm = term.attributes.Ints("perm");
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return false;
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return perm.size() == shape.size();
}

// Movement that changes nothing, and movement of movement.
TermId Terms::Moved(const Term& term) {
  if (!term.moves || term.operands[0] == kAbsent) return kAbsent;
  const Term operand = terms_[term.operands[0]];
  const bool keeps_order = term.op->moves_data == ir::Movement::kReshape || OnlyMovesOnes(term);
  if (keeps_order) {
    if (TypeOn(operand.type) == TypeOn(term.type)) return term.operands[0];
    // One form for all of them: the shape says everything.
    const bool plain = term.attributes.size() == 0 && term.operands.size() == 1;
    const bool inner = operand.moves && operand.op->moves_data == ir::Movement::kReshape;
    if (PerTensor(term.type) && PerTensor(operand.type) &&
        (inner || !plain || !Is(term, "Reshape"))) {
      static constexpr ir::OpDef kView{
          .name = "Reshape", .since = ir::Since(1), .moves_data = ir::Movement::kReshape};
      Term view{.kind = Term::Kind::kNode, .op = &kView, .moves = true, .type = term.type};
      view.operands = {inner ? operand.operands[0] : term.operands[0]};
      if (TypeOn(terms_[view.operands[0]].type) == TypeOn(view.type)) return view.operands[0];
      return Intern(std::move(view));
    }
    return kAbsent;
  }
  if (!Is(term, "Transpose")) return kAbsent;
  const std::vector<int64_t> outer = term.attributes.Ints("perm");
  const size_t rank = term.type.shape.size();
  if (outer.size() == rank && std::is_sorted(outer.begin(), outer.end()) &&
      TypeOn(operand.type) == TypeOn(term.type)) {
    return term.operands[0];
  }
  if (!Is(operand, "Transpose")) return kAbsent;
  const std::vector<int64_t> inner = operand.attributes.Ints("perm");
  if (outer.size() != rank || inner.size() != rank) return kAbsent;
  Term merged = operand;
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = inner[outer[i]];
  merged.attributes.Set("perm", perm);
  merged.type = term.type;
  return Build(std::move(merged));
}

// Max, MaxPool, Concat.. of E(a), E(b).. is E of it for one E: always where elements are only
// copied, for a non-decreasing E where they are compared.
TermId Terms::AboveSelection(const Term& term) {
  if (!term.selects || term.results != 1 || !PerTensor(term.type)) return kAbsent;
  const std::vector<int64_t> pads = term.attributes.Ints("pads"),
                             kernel = term.attributes.Ints("kernel_shape");
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || kernel.empty() || pads[i] >= kernel[i % kernel.size()]) return kAbsent;
  }
  if (term.attributes.Int("ceil_mode", 0) != 0 || term.attributes.Has("auto_pad") ||
      (!pads.empty() && term.attributes.Has("dilations"))) {
    return kAbsent;
  }
  Term inner = term;
  std::shared_ptr<const Table> table;
  for (size_t i = 0; i < term.operands.size(); ++i) {
    if (term.operands[i] == kAbsent || term.op->RoleOf(i) != ir::Role::kData) continue;
    const Term& operand = terms_[term.operands[i]];
    if (operand.kind != Term::Kind::kTable || (table && operand.table != table) ||
        !operand.type.SameQuantization(term.type)) {
      return kAbsent;
    }
    table = operand.table;
    inner.operands[i] = operand.operands[0];
    const ir::Type& source = terms_[operand.operands[0]].type;
    if (i > 0 && !(inner.type.SameQuantization(source))) return kAbsent;
    inner.type.dtype = source.dtype;
    inner.type.quant = source.quant;
  }
  if (!table) return kAbsent;
  const bool compares = term.op->moves_data == ir::Movement::kSelect;
  if (compares && !std::is_sorted(table->begin(), table->end())) return kAbsent;
  return MakeTable(Build(std::move(inner)), *table, term.type);
}

// Other forms of the same op.
TermId Terms::Rewritten(const Term& term) {
  if (term.kind != Term::Kind::kNode) return kAbsent;
  static constexpr ir::OpDef kRescale = OwnRow("Rescale");
  // Where the mode defines Rescale as this pair.
  if (IsOwn(term, "Quantize") && IsOwn(terms_[term.operands[0]], "Dequantize") &&
      (mode_ == Mode::kOnnx || mode_ == Mode::kGlowInterpreter)) {
    return BuildNode(kRescale, terms_[term.operands[0]].operands, term.type);
  }
  if (IsOwn(term, "Rescale") && terms_[term.operands[0]].type == term.type) return term.operands[0];
  // Max and Min compare in the result's type.
  if ((Is(term, "Max") || Is(term, "Min")) && HasTable(term.type)) {
    Term same = term;
    for (TermId& id : same.operands) {
      if (id == kAbsent || terms_[id].type.SameQuantization(term.type)) continue;
      ir::Type type = term.type;
      type.shape = terms_[id].type.shape;
      if (HasTable(terms_[id].type)) id = BuildNode(kRescale, {id}, type);
    }
    if (same.operands != term.operands) return Build(std::move(same));
  }
  // x - c = x + -c
  if (Is(term, "Sub") && term.type.dtype == ir::DType::kF32 && !term.type.quant) {
    static constexpr ir::OpDef kAdd{.name = "Add", .since = ir::Since(1), .commutative = true};
    const ir::Type type = terms_[term.operands[1]].type;
    const auto values = ValuesOf(ConstantOf(term.operands[1]));
    // Two constants are evaluated, not rewritten.
    if (values && !Folded(term.operands[0])) {
      ir::Tensor negative(ir::DType::kF32, type.shape);
      std::ranges::transform(*values, negative.mutable_values<float>().begin(),
                             [](double x) { return static_cast<float>(-x); });
      const TermId id = Constant(ir::MakePayload(std::move(negative)), type.Expressed());
      return BuildNode(kAdd, {term.operands[0], id}, term.type);
    }
  }
  if (term.op->commutative && term.operands.size() == 2 && term.operands[0] > term.operands[1]) {
    Term sorted = term;
    std::swap(sorted.operands[0], sorted.operands[1]);
    return Build(std::move(sorted));
  }
  return kAbsent;
}

}  // namespace octavo::verify

// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/mode_requantize.h"

#include <algorithm>

#include "core/ir/output_channels.h"

namespace octavo::runtime {
namespace {

using numerics::Mode;
using numerics::ProductQuant;
using numerics::RequantizeFormula;

bool IsByte(const ir::Type& type) { return ir::SizeOf(type.dtype) == 1; }

bool IsSymmetric(const ir::Type& type, ir::DType dtype) {
  return type.dtype == dtype &&
         std::ranges::all_of(type.quant->zero_points, [](int32_t zero) { return zero == 0; });
}

bool IsInt16Product(const NodeView& view) {
  if (!IsSymmetric(view.in(0), ir::DType::kI16) || !IsSymmetric(view.out(), ir::DType::kI16)) {
    return false;
  }
  const bool two_activations =
      view.node.op->name == "MatMul" && IsSymmetric(view.in(1), ir::DType::kI16);
  return IsSymmetric(view.in(1), ir::DType::kI8) || two_activations;
}

RequantizeFormula FormulaOf(const NodeView& view, const ProductQuant& quant) {
  const Mode& mode = *view.numerics;
  RequantizeFormula formula = numerics::MakeProduct(mode, view.node.op->name, quant);
  if (!formula || IsByte(view.out())) return formula;
  return mode.requantize_int16 == nullptr ? nullptr : mode.requantize_int16(quant);
}

}  // namespace

std::shared_ptr<const ModeRequantizer> ModeRequantizer::Of(const NodeView& view, int64_t channels) {
  const ir::Type &x = view.in(0), &w = view.in(1), &y = view.out();
  if (!(IsByte(x) && IsByte(w) && IsByte(y)) && !IsInt16Product(view)) return nullptr;
  std::vector<RequantizeFormula> formulas;
  for (int64_t c = 0; c < channels; ++c) {
    formulas.push_back(FormulaOf(view, {x.quant->scale(), ir::WeightScale(*w.quant, c),
                                        y.quant->scale(), y.quant->zero_point()}));
    if (!formulas.back()) return nullptr;
  }
  return std::shared_ptr<const ModeRequantizer>(
      new ModeRequantizer(std::move(formulas), ir::IntegerRangeOf(y.dtype)));
}

}  // namespace octavo::runtime

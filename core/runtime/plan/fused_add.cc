// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/fused_add.h"

#include "core/runtime/kernels/shared/product_operands.h"

namespace octavo::runtime {
namespace {

// Whether `shape` is one row along the last axis of `whole`.
bool IsRowOf(const ir::Shape& shape, const ir::Shape& whole) {
  return !shape.empty() && shape.size() <= whole.size() && shape.back() == whole.back() &&
         ir::NumElements(shape) == shape.back();
}

}  // namespace

std::optional<FusedAdd> FusableAdd(const NodeView& view) {
  if (!view.numerics->qlinear || view.node.results.size() != 1) return std::nullopt;
  const ir::ValueId own = view.node.result();
  const ir::Value& value = view.graph.value(own);
  if (value.uses.size() != 1 || view.graph.IsOutput(own)) return std::nullopt;
  const ir::Use use = value.uses[0];
  const ir::Node& add = view.graph.node(use.node);
  if (add.op->name != "Add") return std::nullopt;
  const ir::ValueId addend = add.input(1 - use.input);
  const ir::Type &a = view.out(), &b = view.graph.type(addend), &y = view.graph.type(add.result());
  const bool is_row = a.shape != b.shape && IsRowOf(b.shape, a.shape);
  const bool fits = a.shape == y.shape && (a.shape == b.shape || is_row);
  if (!fits || !IsPlain8(a) || !IsPlain8(b) || !IsPlain8(y)) return std::nullopt;
  const int8::ResidualAdd residual{.addend = ActivationOf(b),
                                   .own_scale = a.quant->scale(),
                                   .scale = b.quant->scale(),
                                   .result_scale = y.quant->scale(),
                                   .output = RequantizationOf(y, {}).output,
                                   .zero_point = y.quant->zero_point()};
  if (!residual.IsModerate()) return std::nullopt;
  return FusedAdd{use.node, addend, residual, is_row};
}

}  // namespace octavo::runtime

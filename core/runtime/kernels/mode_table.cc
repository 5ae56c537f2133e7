// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit operand in the numerics modes that define them by tables.
#include "core/runtime/kernels/lookup_table.h"
#include "core/runtime/kernels/shared/value_table.h"

namespace octavo::runtime {
namespace {

bool Match(const NodeView& view) {
  const numerics::Mode& mode = *view.numerics;
  if (mode.tables.inputs == nullptr || !IsTabled(view)) return false;
  // Clamps and Rescale have their own integer kernels.
  if (view.node.op->clamps || !view.node.op->domain.empty()) return false;
  return numerics::DefinesScales(mode, *view.in(0).quant) &&
         numerics::DefinesScales(mode, *view.out().quant);
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool& pool) {
  const numerics::FunctionTables& tables = view.numerics->tables;
  ir::Tensor inputs(ir::DType::kF32, {256});
  tables.inputs(numerics::ChannelQuant::Of(view.in(0)),
                static_cast<int32_t>(ir::IntegerRangeOf(view.in(0).dtype).min),
                inputs.mutable_values<float>());
  OCTAVO_TRY(const ir::Tensor values, ValuesAt(view, inputs, pool));
  const auto quant = numerics::ChannelQuant::Of(view.out());
  const ir::IntegerRange range = ir::IntegerRangeOf(view.out().dtype);
  std::vector<int32_t> results;
  for (const float value : values.values<float>()) {
    results.push_back(numerics::QuantizeOne(tables.quantize, value, quant, range));
  }
  return LookUp(view, results);
}

}  // namespace

extern constexpr Kernel kModeTable{.name = "mode-table",
                                   .layout = LayoutRule::kEither,
                                   .modes = Modes::kWithFormulas,
                                   .images = 1,
                                   .match = &Match,
                                   .prepare = &Prepare};

}  // namespace octavo::runtime

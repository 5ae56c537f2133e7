// SPDX-License-Identifier: Apache-2.0
// AveragePool and GlobalAveragePool in the numerics modes that have formulas for them.
#include "core/runtime/kernels/shared/pool_mean.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kOps[] = {"AveragePool", "GlobalAveragePool"};

numerics::PoolWindows WindowsOf(const NodeView& view) {
  const PoolMean mean = PoolMean::Of(view);
  numerics::PoolWindows windows;
  for (int64_t row = 0; row < mean.height.out; ++row) {
    for (int64_t column = 0; column < mean.width.out; ++column) {
      PoolSum sum;
      mean.Count(row, column, sum);
      if (windows.count == 0) windows.count = sum.count;
      windows.one_count &= windows.count == sum.count;
      windows.padding_counts |= sum.count > sum.inside;
      windows.empty |= sum.inside == 0;
    }
  }
  return windows;
}

numerics::PoolFormula FormulaOf(const NodeView& view) {
  if (view.numerics->average_pool == nullptr) return {};
  return view.numerics->average_pool(view.in(0), view.out(), WindowsOf(view));
}

bool Match(const NodeView& view) {
  const size_t rank = view.in(0).shape.size();
  return (rank == 3 || rank == 4) && numerics::DefinesStorage(*view.numerics, view.in(0)) &&
         numerics::DefinesStorage(*view.numerics, view.out()) && view.in(0).quant->per_tensor() &&
         view.out().quant->per_tensor() && view.in(0).elements() > 0 && FormulaOf(view) != nullptr;
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  return RunPoolMean(view, FormulaOf(view));
}

}  // namespace

extern constexpr Kernel kModeAveragePool{.name = "mode-average-pool",
                                         .ops = kOps,
                                         .modes = Modes::kWithFormulas,
                                         .match = &Match,
                                         .prepare = &Prepare};

}  // namespace octavo::runtime

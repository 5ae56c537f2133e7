// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/epilogue.h"

#include <algorithm>

#include "core/runtime/kernels/lookup_table.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

struct NameRow {
  std::string_view op, added, looked_up, both;
};

constexpr NameRow kNames[] = {
    {"Conv", "Conv+Add", "Conv+Table", "Conv+Add+Table"},
    {"MatMul", "MatMul+Add", "MatMul+Table", "MatMul+Add+Table"},
    {"Gemm", "Gemm+Add", "Gemm+Table", "Gemm+Add+Table"},
};

}  // namespace

std::string_view FusedName(std::string_view op, const Epilogue& epilogue) {
  const auto* row = std::ranges::find(kNames, op, &NameRow::op);
  if (row == std::end(kNames) || !epilogue.last()) return op;
  if (!epilogue.table) return row->added;
  return epilogue.add ? row->both : row->looked_up;
}

Result<std::optional<FusedTable>> FusableTable(const NodeView& view, ir::ValueId value,
                                               ThreadPool& pool) {
  const std::optional<FusedTable> none;
  const ir::Value& own = view.graph.value(value);
  if (!view.numerics->qlinear || own.uses.size() != 1) return none;
  if (view.graph.IsOutput(value) || own.uses[0].input != 0) return none;
  const ir::NodeId id = own.uses[0].node;
  const NodeView after{.graph = view.graph,
                       .node = view.graph.node(id),
                       .fixed = view.fixed,
                       .numerics = view.numerics};
  if (!IsTabled(after)) return none;
  OCTAVO_TRY(const auto table, TableOf(after, pool));
  return std::optional(FusedTable{id, {table, simd::CurrentKernels().look_up}});
}

}  // namespace octavo::runtime

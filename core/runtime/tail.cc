#include "core/runtime/tail.h"

#include <algorithm>

#include "core/runtime/row_codes.h"
#include "core/runtime/table_kernel.h"

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

std::string_view NameWithTail(std::string_view op, const Tail& tail) {
  const auto* row = std::ranges::find(kNames, op, &NameRow::op);
  if (row == std::end(kNames) || !tail.last()) return op;
  if (!tail.table) return row->added;
  return tail.add ? row->both : row->looked_up;
}

Result<std::optional<FollowingTable>> TableAfter(const NodeView& view, ir::ValueId value,
                                                 ThreadPool& pool) {
  const std::optional<FollowingTable> none;
  const ir::Value& own = view.graph.value(value);
  if (view.numerics != ir::Numerics::kOnnx || own.uses.size() != 1) return none;
  if (view.graph.IsOutput(value) || own.uses[0].input != 0) return none;
  const ir::NodeId id = own.uses[0].node;
  const NodeView after{.graph = view.graph,
                       .node = view.graph.node(id),
                       .fixed = view.fixed,
                       .numerics = view.numerics};
  const bool has_table = std::ranges::count(kTabledOps, after.node.op->name) > 0;
  if (!has_table || !IsTabled(after)) return none;
  OCTAVO_TRY(const auto table, TableOf(after, pool));
  return std::optional(FollowingTable{id, {table, rows::CurrentRows().look_up}});
}

}  // namespace octavo::runtime

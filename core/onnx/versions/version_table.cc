// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/versions/version_table.h"

#include <algorithm>

#include "core/onnx/versions/conversions.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {
const std::vector<VersionRow>& AllConversions() {
  static const std::vector<VersionRow> all = [] {
    std::vector<VersionRow> rows;
    for (const std::span<const VersionRow> part :
         {AttributeConversions(), EarlyConversions(), ResizeConversions(), SemanticConversions()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    std::ranges::stable_sort(rows, {}, &VersionRow::since);
    return rows;
  }();
  return all;
}

int64_t FirstVersion(std::string_view op) {
  const ir::OpDef* row = ops::FindOp(op);
  return row == nullptr ? 1 : row->since.opset();
}

namespace {

bool Names(const OpNames& ops, std::string_view op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

Status UpgradeToNewest(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  for (const VersionRow& row : AllConversions()) {
    if (opset >= row.since || !Names(row.ops, conversion.node.op)) continue;
    if (row.upgrade) OCTAVO_CHECK(row.upgrade(graph, conversion));
    if (!row.now.empty()) conversion.node.op = row.now;
  }
  return {};
}

int64_t DowngradeTo(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  Draft& draft = conversion.node;
  for (const DecompositionRow& row : Decompositions()) {
    if (row.op != draft.op || !row.decompose(graph, opset, conversion)) continue;
    int64_t least = FirstVersion(draft.op);
    for (const Draft& before : conversion.before) {
      least = std::max(least, FirstVersion(before.op));
    }
    return opset < least ? least : 0;
  }
  const std::vector<VersionRow>& rows = AllConversions();
  for (size_t i = rows.size(); i-- > 0;) {
    const VersionRow& row = rows[i];
    const bool matches = row.now.empty() ? Names(row.ops, draft.op) : row.now == draft.op;
    if (opset >= row.since || !matches) continue;
    if (row.downgrade == nullptr || !row.downgrade(graph, draft)) return row.since;
    if (!row.now.empty()) draft.op = *row.ops.begin();
  }
  const int64_t least = draft.domain.empty() ? FirstVersion(draft.op) : 1;
  return opset < least ? least : 0;
}

int64_t IrVersionOf(int64_t opset) {
  struct Row {
    int64_t opset, ir_version;
  };
  // For each ONNX release, its newest opset and its IR version.
  constexpr Row kRows[] = {{9, 4}, {10, 5}, {11, 6}, {14, 7}, {18, 8}, {20, 9}, {22, 10}, {23, 11}};
  for (const Row& row : kRows) {
    if (opset <= row.opset) return row.ir_version;
  }
  return kNewestIrVersion;
}

}  // namespace octavo::onnx

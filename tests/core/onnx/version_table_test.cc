// SPDX-License-Identifier: Apache-2.0
// Checks the table of operator versions as a whole; versions_test.cc converts models with it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/onnx/versions/conversions.h"

namespace octavo::onnx {
namespace {

TEST(VersionTable, NoOperatorHasTwoRowsOfOneOpset) {
  std::set<std::pair<std::string_view, int64_t>> seen;
  for (const VersionRow& row : AllConversions()) {
    for (const std::string_view op : row.ops) {
      EXPECT_TRUE(seen.emplace(op, row.since).second) << op << " since " << row.since;
    }
  }
}

TEST(VersionTable, RowsAreInRisingOrderAndWithinTheOpsetsThatAreRead) {
  int64_t since = kOldestOpset;
  for (const VersionRow& row : AllConversions()) {
    EXPECT_GE(row.since, since) << *row.ops.begin();
    EXPECT_LE(row.since, kEveryOpset) << *row.ops.begin();
    since = row.since;
  }
}

TEST(VersionTable, EveryRowConvertsAndARenamedOperatorIsOne) {
  for (const VersionRow& row : AllConversions()) {
    EXPECT_TRUE(row.upgrade != nullptr || row.downgrade != nullptr) << *row.ops.begin();
    EXPECT_GE(row.ops.end() - row.ops.begin(), 1);
    if (row.now.empty()) continue;
    EXPECT_EQ(row.ops.end() - row.ops.begin(), 1) << row.now;
  }
}

// A conversion may create an operator that has its own conversions; those must come later.
TEST(VersionTable, CastLikeIsConvertedBeforeCast) {
  const auto row_of = [](std::string_view op, int64_t since) {
    const std::vector<VersionRow>& rows = AllConversions();
    return std::find_if(rows.begin(), rows.end(), [&](const VersionRow& row) {
      return row.since == since && *row.ops.begin() == op;
    });
  };
  EXPECT_LT(row_of("CastLike", kEveryOpset), row_of("Cast", kEveryOpset));
}

// The result of DowngradeTo for a node with one f32 operand of shape 2x2.
int64_t LowestOpsetFor(std::string_view op, int64_t opset) {
  ir::Graph graph;
  const ir::ValueId x = graph.AddInput("x", {ir::DType::kF32, {2, 2}, {}, {}});
  Conversion conversion{
      .node = {.name = "n", .op = std::string(op), .inputs = {Operand::Of(x)}, .outputs = {"y"}}};
  return DowngradeTo(graph, opset, conversion);
}

// The op's row states its first opset.  Ops without conversions were once written to opsets that
// lack them: Scatter to opsets 7 and 8.
TEST(VersionTable, NoOperatorIsWrittenBeforeItsFirstOpset) {
  EXPECT_EQ(LowestOpsetFor("Celu", 11), 12);
  EXPECT_EQ(LowestOpsetFor("Celu", 12), 0);
  EXPECT_EQ(LowestOpsetFor("Mean", 7), 8);
  EXPECT_EQ(LowestOpsetFor("ScatterElements", 8), 9);
  EXPECT_EQ(LowestOpsetFor("ScatterElements", 9), 0);
}

}  // namespace
}  // namespace octavo::onnx

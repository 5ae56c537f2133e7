// SPDX-License-Identifier: Apache-2.0
#include "core/job/shape_formulas.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::job {
namespace {

ir::Graph SlicedAt(int64_t rows) {
  auto graph = text::Parse(fmt::format(R"(graph(%x: tensor<{0}x4xf32>) -> (%y) {{
  const %from = [0] : tensor<1xi64>
  const %to = [{0}] : tensor<1xi64>
  %y = Slice(%x, %from, %to) : tensor<{0}x4xf32>
}}
)",
                                       rows),
                           {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

// Whether a formula gives the ends of the Slice for 4, 5 and 9 rows.
bool HasFormula(int64_t at4, int64_t at5, int64_t at9) {
  ir::Graph graph = SlicedAt(4);
  const ir::Graph sizes[] = {SlicedAt(4), SlicedAt(5), SlicedAt(9)};
  const ir::Graph* sized[] = {&sizes[0], &sizes[1], &sizes[2]};
  return ShapeFormulas(graph, sized).Generalize(graph.Find("to"), {{at4}, {at5}, {at9}});
}

TEST(ShapeFormulas, AreLinesInASize) {
  EXPECT_TRUE(HasFormula(4, 5, 9));
  EXPECT_TRUE(HasFormula(11, 13, 21));
  EXPECT_FALSE(HasFormula(16, 25, 81));
}

TEST(ShapeFormulas, AreNotOfNumbersThatNoSizeHas) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(HasFormula(kMost, kLeast, 9));
  EXPECT_FALSE(HasFormula(kLeast, kMost, kLeast));
  EXPECT_FALSE(HasFormula(int64_t{4} << 40, int64_t{5} << 40, int64_t{9} << 40));
}

}  // namespace
}  // namespace octavo::job

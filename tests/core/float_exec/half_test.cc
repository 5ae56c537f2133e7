// SPDX-License-Identifier: Apache-2.0
// Half-precision floats: rounding by bits, and ops whose definitions do not support them.
#include "core/float_exec/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/float_exec/run.h"
#include "core/ops/op_table.h"

namespace octavo::float_exec {
namespace {

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(ToF16(1.0), 0x3c00);
  EXPECT_EQ(ToF16(-2.0), 0xc000);
  EXPECT_EQ(ToF16(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(ToF16(1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(ToF16(65504.0), 0x7bff);
  EXPECT_EQ(ToF16(65520.0), 0x7c00);
  EXPECT_EQ(ToF16(0x1p-24), 0x0001);
  EXPECT_EQ(ToF16(0x1p-25), 0x0000);
  EXPECT_EQ(ToF16(1023 * 0x1p-24), 0x03ff);
  EXPECT_EQ(ToF16(1024 * 0x1p-24), 0x0400);
  EXPECT_EQ(ToBF16(1.0), 0x3f80);
  EXPECT_EQ(ToBF16(1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(ToBF16(1.0 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(ToBF16(std::numeric_limits<double>::infinity()), 0x7f80);
}

TEST(Half, WhatIsWidenedAndRoundedStaysTheSame) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    for (const ir::DType dtype : {ir::DType::kF16, ir::DType::kBF16}) {
      ir::Tensor tensor(dtype, {1});
      tensor.mutable_values<uint16_t>()[0] = static_cast<uint16_t>(bits);
      const double value = tensor.FloatAt(0);
      if (std::isnan(value)) continue;
      ASSERT_EQ(dtype == ir::DType::kF16 ? ToF16(value) : ToBF16(value), bits);
    }
  }
}

TEST(Half, AnOpComputesInFloatAndRoundsOnce) {
  ir::Graph graph;
  const ir::Type type{ir::DType::kF16, {2}, {}, {}};
  const ir::ValueId x = graph.AddInput("x", type);
  const ir::NodeId node = graph.AddNode(
      {.name = "n", .op = ops::FindOp("Add"), .inputs = {x, x}, .results = {{"y", type}}});
  graph.AddOutput(graph.node(node).result());
  auto session = Session::Create(graph);
  ASSERT_TRUE(session) << session.error().message;
  ThreadPool pool(1);
  ir::Tensor halves(ir::DType::kF16, {2});
  halves.mutable_values<uint16_t>()[0] = ToF16(1.5);
  halves.mutable_values<uint16_t>()[1] = ToF16(60000.0);
  const auto results = session->Run({halves}, pool);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[0].FloatAt(0), 3);
  EXPECT_TRUE(std::isinf((*results)[0].FloatAt(1)));
}

}  // namespace
}  // namespace octavo::float_exec

// SPDX-License-Identifier: Apache-2.0
// Limits of a model; a job checks them before it computes anything.
#include "core/job/limits.h"

#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::job {
namespace {

ir::Graph Concatenated() {
  return *text::Parse(R"(graph(%x: tensor<1x64xf32>) -> (%y) {
  const %w = splat(1) : tensor<1x1024xf32>
  %y = Concat@"cat"(%x, %w) {axis=1} : tensor<1x1088xf32>
})",
                      {.find_op = &ops::FindOp});
}

TEST(ModelLimits, AResultBeyondThemIsNamed) {
  const Status status = CheckValueBytes(Concatenated(), {.value_bytes = 4351});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kTooLarge);
  EXPECT_EQ(status.error().node, "cat");
  EXPECT_EQ(status.error().message,
            "Concat 'cat': its result 'y' of shape 1x1088 takes 4352 bytes; at most 4351 are "
            "allowed (max-value-bytes)");
}

TEST(ModelLimits, WhatFitsPassesAndZeroIsAnyNumber) {
  EXPECT_TRUE(CheckValueBytes(Concatenated(), {.value_bytes = 4352}));
  EXPECT_TRUE(CheckValueBytes(Concatenated(), {.value_bytes = 0}));
}

}  // namespace
}  // namespace octavo::job

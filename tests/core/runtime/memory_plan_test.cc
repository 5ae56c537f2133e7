// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace octavo::runtime {
namespace {

TEST(MemoryPlan, BuffersAliveTogetherNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> buffers;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random() % 30);
      buffers.push_back(
          {static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 6)});
    }
    const MemoryPlan plan = PlanMemory(buffers);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (buffers[a].last < buffers[b].first || buffers[b].last < buffers[a].first) continue;
        EXPECT_TRUE(plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + buffers[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

TEST(MemoryPlan, AChainTakesTurnsInTwoBuffers) {
  std::vector<BufferLife> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1});
  EXPECT_LE(PlanMemory(chain).bytes, 2 * (1000 + 128));
}

}  // namespace
}  // namespace octavo::runtime

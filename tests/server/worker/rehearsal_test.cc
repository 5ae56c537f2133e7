// SPDX-License-Identifier: Apache-2.0
#include "server/worker/rehearsal.h"

#include <gtest/gtest.h>

#include <set>

namespace octavo::server::worker {
namespace {

// A rehearsal that fails early would touch nothing.
TEST(Rehearsal, RunsAJobToItsEnd) {
  std::set<std::string> stages;
  const auto outcome = job::Run(RehearsalRequest(), {}, [&](const job::Progress& progress) {
    stages.emplace(progress.stage);
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(stages.contains("integer-run"));
  EXPECT_FALSE(outcome->model.bytes.empty());
  EXPECT_GE(outcome->facts.kernels.size(), 3u);
}

}  // namespace
}  // namespace octavo::server::worker

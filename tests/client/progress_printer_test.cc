// SPDX-License-Identifier: Apache-2.0
// The line of the progress bar.
#include "client/cli/progress_printer.h"

#include <gtest/gtest.h>

namespace octavo::cli {
namespace {

constexpr job::Progress kHalf = {.stage = "passes", .pass = "quantize", .done = 3, .total = 6};

TEST(Progress, TheBarFillsTheWidthOfTheTerminal) {
  for (const size_t columns : {70u, 80u, 200u}) {
    const std::string line = BarText("passes quantize", kHalf, 65, 4, columns);
    EXPECT_EQ(line.size(), columns - 1);
    const auto filled = std::count(line.begin(), line.end(), '#');
    const auto open = std::count(line.begin(), line.end(), '-');
    EXPECT_LE(std::abs(filled - open), 1) << line;
  }
}

TEST(Progress, TheElapsedAndTheRemainingTimeAreShown) {
  EXPECT_TRUE(BarText("passes quantize", kHalf, 65, 4, 80).ends_with("] 3/6, 0:04 left  1:05"));
  // Too early to tell, and a stage that counts nothing.
  EXPECT_TRUE(BarText("passes quantize", kHalf, 65, 0.5, 80).ends_with("] 3/6  1:05"));
  EXPECT_TRUE(BarText("export", {.stage = "export"}, 7, 4, 80).ends_with("-] 0:07"));
}

TEST(Progress, ANarrowTerminalGetsNoBarAndNoBrokenLine) {
  EXPECT_EQ(BarText("passes quantize", kHalf, 65, 4, 40), "passes quantize  3/6, 0:04 left  1:05");
  EXPECT_EQ(BarText("passes quantize", kHalf, 65, 4, 10), "passes qu");
}

TEST(Progress, TimesAreMinutesAndSeconds) {
  EXPECT_EQ(ClockText(0), "0:00");
  EXPECT_EQ(ClockText(6.2), "0:07");
  EXPECT_EQ(ClockText(125), "2:05");
  EXPECT_EQ(ClockText(3600), "1:00:00");
}

}  // namespace
}  // namespace octavo::cli

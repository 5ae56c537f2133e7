// SPDX-License-Identifier: Apache-2.0
// Which samples are held back.
#include "core/profile/holdout.h"

#include <gtest/gtest.h>

namespace octavo::profile {
namespace {

int64_t Every(std::string_view text, int64_t samples) {
  const auto holdout = ParseHoldout(text);
  EXPECT_TRUE(holdout) << text;
  return holdout ? HoldoutEvery(*holdout, samples) : -1;
}

TEST(Holdout, AutoHoldsEveryFourthBackFrom8SamplesOn) {
  EXPECT_EQ(Every("auto", 0), 0);
  EXPECT_EQ(Every("auto", 7), 0);
  EXPECT_EQ(Every("auto", 8), 4);
  EXPECT_EQ(Every("auto", 100'000), 4);
}

TEST(Holdout, NoneHoldsNoneBack) { EXPECT_EQ(Every("none", 1000), 0); }

TEST(Holdout, ANumberHoldsBackIfThereAreSoMany) {
  EXPECT_EQ(Every("5", 4), 0);
  EXPECT_EQ(Every("5", 5), 5);
  EXPECT_EQ(Every("2", 2), 2);
}

TEST(Holdout, IsReadAsItIsNamed) {
  for (const char* text : {"auto", "none", "2", "17"}) {
    EXPECT_EQ(Name(*ParseHoldout(text)), text);
  }
  for (const char* text : {"", "1", "0", "-4", "4.5", "4 ", "every", "99999999999999999999"}) {
    EXPECT_FALSE(ParseHoldout(text)) << text;
  }
}

}  // namespace
}  // namespace octavo::profile

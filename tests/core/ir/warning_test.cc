// SPDX-License-Identifier: Apache-2.0
#include "core/ir/warning.h"

#include <gtest/gtest.h>

#include <set>

namespace octavo::ir {
namespace {

TEST(WarningTable, HasNoRowTwiceAndATextForAll) {
  std::set<std::string_view> warning_codes;
  for (const WarningRow& row : kWarningRows) {
    EXPECT_TRUE(warning_codes.insert(row.code).second) << row.code;
    EXPECT_EQ(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"), row.code.npos)
        << row.code;
    EXPECT_FALSE(row.text.empty()) << row.code;
    EXPECT_FALSE(row.text.ends_with('.')) << row.code;
    EXPECT_NE(row.code, "all") << "--fail-on-warning all";
  }
}

TEST(WarningTable, FindsARowByItsName) {
  const WarningCode code = "few_samples";
  EXPECT_EQ(code.name(), "few_samples");
  ASSERT_NE(FindWarning("few_samples"), nullptr);
  EXPECT_EQ(code, WarningCode(*FindWarning("few_samples")));
  EXPECT_EQ(FindWarning("fewer_samples"), nullptr);
}

}  // namespace
}  // namespace octavo::ir

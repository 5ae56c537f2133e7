// SPDX-License-Identifier: Apache-2.0
#include "client/cli/terminal_text.h"

#include <gtest/gtest.h>

namespace octavo::cli {
namespace {

TEST(ForTerminal, ControlCharactersAreEscaped) {
  EXPECT_EQ(ForTerminal("Conv '\x1b]0;x\x07\x7f': a\r\nb\n"),
            "Conv '\\x1B]0;x\\x07\\x7F': a\\x0D b");
  EXPECT_EQ(ForTerminal("\xC2\x9B"
                        "31m \xC3\xA4"),
            "\\x9B31m \xC3\xA4");
}

TEST(ForTerminal, LongNamesAndTextsAreCut) {
  const std::string name(3 << 20, 'n');
  EXPECT_EQ(ForTerminal("Conv '" + name + "': the client's weight"),
            "Conv '" + std::string(200, 'n') + "...': the client's weight");
  EXPECT_EQ(ForTerminal(name).size(), 2048u);
  EXPECT_LE(ForTerminal(std::string(10'000, '\x01')).size(), 2048u);
  EXPECT_EQ(ForTerminal("the service's limit is the client's"),
            "the service's limit is the client's");
}

}  // namespace
}  // namespace octavo::cli

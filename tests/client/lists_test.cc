// SPDX-License-Identifier: Apache-2.0
// octavo ops, targets: the tables as a person reads them.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "client/cli/program.h"
#include "client/cli/table.h"

namespace octavo::cli {
namespace {

std::string OutputOf(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const Host host{.out = out,
                  .err = err,
                  .environment = [](const std::string&) { return std::optional<std::string>(); },
                  .version = "0.1.0"};
  EXPECT_EQ(RunProgram(args, host), 0) << err.str();
  return out.str();
}

TEST(Lists, OpsExplainsEveryWordOfItsTable) {
  const std::string text = OutputOf({"ops"});
  const std::string legend = text.substr(text.find("\n\n"));
  std::istringstream lines(OutputOf({"ops", "--json"}));
  std::set<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    for (const char* key : {"quant", "rescale_input", "rescale_output"}) {
      words.insert(row.at(key).get<std::string>());
    }
  }
  EXPECT_GE(words.size(), 8u);
  for (const std::string& word : words) {
    EXPECT_NE(legend.find("\n  " + word + ' '), std::string::npos) << word;
  }
}

TEST(Lists, ColumnsHaveHeadingsAndAreAligned) {
  for (const auto& [list, heading, row, cell] :
       {std::array<std::string, 4>{"ops", "rescale output", "Abs ", "absorbed"},
        {"ops", "domain", "Rescale ", "octavo"}}) {
    const std::string text = OutputOf({list});
    const size_t begin = text.find('\n' + row) + 1;
    ASSERT_NE(begin, 0u) << row;
    EXPECT_EQ(text.substr(begin + text.find(heading), cell.size()), cell) << list << ": " << row;
  }
}

TEST(Lists, OptionsSaysAllOfEachWithoutAWideTable) {
  const std::string text = OutputOf({"options"});
  std::istringstream rows(OutputOf({"options", "--json"})), lines(text);
  for (std::string line; std::getline(rows, line);) {
    const auto row = nlohmann::json::parse(line);
    for (const char* key : {"name", "help", "default", "bounds"}) {
      EXPECT_NE(text.find(row.at(key).get<std::string>()), std::string::npos) << line;
    }
  }
  EXPECT_NE(text.find("\nweights  --weights\n    integer type of weights\n"
                      "    choice of i8,i16,i4; default the target's\n"),
            std::string::npos)
      << text;
  for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 200u) << line;
}

TEST(Lists, NumbersEndBelowTheirHeading) {
  const std::string text = OutputOf({"targets"});
  const size_t end = text.find("bias bits") + 9;
  EXPECT_EQ(text.substr(text.find("\npow2-npu ") + 1 + end - 4, 4), "  16");
}

TEST(Table, CountsCharactersAndIndents) {
  Table table({"name", "count"});
  table.Add({"\xC3\xA4", "7"});
  table.Add({"ab", "12"});
  EXPECT_EQ(table.Text(1), " name  count\n \xC3\xA4         7\n ab       12\n");
}

}  // namespace
}  // namespace octavo::cli

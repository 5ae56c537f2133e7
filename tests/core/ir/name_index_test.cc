// SPDX-License-Identifier: Apache-2.0
// Look-ups by name after any sequence of insertions and removals.
#include "core/ir/name_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace octavo::ir {
namespace {

struct Entry {
  std::string name = {};
};

TEST(NameIndex, AnEmptyIndexFindsNothing) {
  EXPECT_EQ(NameIndex().Find("a", std::vector<Entry>()), -1);
}

TEST(NameIndex, OfEqualNamesTheFirstIsFound) {
  const std::vector<Entry> entries = {{"a"}, {"a"}};
  NameIndex index;
  index.Add(0, entries);
  index.Add(1, entries);
  EXPECT_EQ(index.Find("a", entries), 0);
  index.Remove("a", entries);
  EXPECT_EQ(index.Find("a", entries), -1);
}

TEST(NameIndex, AgreesWithAMapOverManyChanges) {
  std::mt19937 random(1);
  std::vector<Entry> entries;
  NameIndex index;
  std::map<std::string, int32_t> expected;
  for (int step = 0; step < 20000; ++step) {
    const std::string name = "v" + std::to_string(random() % 500);
    if (random() % 3 == 0) {
      index.Remove(name, entries);
      expected.erase(name);
    } else {
      entries.push_back({name});
      const auto position = static_cast<int32_t>(entries.size()) - 1;
      index.Add(position, entries);
      expected.emplace(name, position);
    }
  }
  for (int i = 0; i < 500; ++i) {
    const std::string name = "v" + std::to_string(i);
    const auto at = expected.find(name);
    EXPECT_EQ(index.Find(name, entries), at == expected.end() ? -1 : at->second) << name;
  }
}

}  // namespace
}  // namespace octavo::ir

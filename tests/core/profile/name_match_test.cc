// SPDX-License-Identifier: Apache-2.0
// Maps Glow's names to values.
#include "core/profile/name_match.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_ops.h"

namespace octavo::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ir::Type kFour{.dtype = ir::DType::kF32, .shape = {4}};

// x.in -> "conv/1" -> (mid, half) -> "act.a" -> a ; "act-a" -> b ; `also` names another value.
NameIndex Index(const std::string& also = "other") {
  ir::Graph graph;
  const ir::ValueId x = graph.AddInput("x.in", kFour);
  const auto add = [&](std::string_view op, std::string node,
                       std::vector<std::pair<std::string, ir::Type>> results) {
    graph.AddNode({.name = std::move(node),
                   .op = test::FindTinyOp(op, ""),
                   .inputs = {x},
                   .results = std::move(results)});
  };
  add("Halves", "conv/1", {{"mid", kFour}, {"half", kFour}});
  add("Sine", "act.a", {{"a", kFour}});
  add("Sine", "act-a", {{"b", kFour}});
  add("Sine", "n4", {{also, kFour}});
  return NameIndex(graph);
}

Profile Named(const std::vector<std::string>& names) {
  Profile profile{.glow_names = true};
  for (const std::string& name : names) profile.values[name] = {.min = 0, .max = 1};
  return profile;
}

std::vector<std::string> ValuesOf(const NameIndex& index, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const auto& [value, entry] : index.Match(Named(names)).profile.values) {
    values.push_back(value);
  }
  return values;
}

TEST(NameMatch, FindsAValueByEachForm) {
  const NameIndex index = Index();
  for (const std::string name : {"x.in", "x.in:0", "x.in__3:0", "x_in", "x_in:0", "x_in__12:0"}) {
    EXPECT_THAT(ValuesOf(index, {name}), ElementsAre("x.in")) << name;
  }
  EXPECT_THAT(ValuesOf(index, {"conv_1:0"}), ElementsAre("mid"));
  EXPECT_THAT(ValuesOf(index, {"conv_1:1"}), ElementsAre("half"));
  EXPECT_THAT(ValuesOf(index, {"conv_1__4:1"}), ElementsAre("half"));
  for (const std::string name : {"conv_1:2", "conv_1", "x_in:1", "x_in_3:0", "x_in__", "__3"}) {
    EXPECT_THAT(ValuesOf(index, {name}), IsEmpty()) << name;
  }
}

TEST(NameMatch, AValueNameGoesBeforeANodeName) {
  EXPECT_THAT(ValuesOf(Index("conv_1"), {"conv_1:0"}), ElementsAre("conv_1"));
  EXPECT_THAT(ValuesOf(Index("conv.1"), {"conv_1:0"}), ElementsAre("mid"));
}

TEST(NameMatch, ANameOfTwoValuesMeansNone) {
  const auto matched = Index().Match(Named({"act_a:0", "a"}));
  EXPECT_THAT(matched.unmatched, ElementsAre("act_a:0"));
  EXPECT_EQ(matched.profile.values.size(), 1u);
  EXPECT_FALSE(matched.profile.glow_names);
}

TEST(NameMatch, OfTwoNamesOfOneValueTheSurerCounts) {
  const auto matched = Index().Match(Named({"a__1:0", "a:0", "a__2:0"}));
  EXPECT_THAT(matched.unmatched, ElementsAre("a__1:0", "a__2:0"));
  EXPECT_TRUE(matched.profile.values.contains("a"));
  EXPECT_THAT(Index().Match(Named({"a__1:0", "a__2:0"})).unmatched,
              ElementsAre("a__1:0", "a__2:0"));
}

}  // namespace
}  // namespace octavo::profile

// SPDX-License-Identifier: Apache-2.0
// The key `quirks` of target descriptions.
#include "core/target/quirk.h"

#include <gmock/gmock.h>

#include "core/ir/warning.h"
#include "core/target/target.h"

namespace octavo::target {
namespace {

using testing::HasSubstr;

Result<TargetQuirks> WithQuirk(std::string_view row) {
  const std::string text = fmt::format(R"({{"name": "mine", "quirks": [{}]}})", row);
  const auto target = Parse(text);  // gives the same errors
  if (!target) return Forward(target.error());
  return ParseQuirks(text);
}

TEST(Quirk, RowIsRead) {
  const auto target = WithQuirk(
      R"({"id": "old", "ops": ["ReduceMax", "ReduceMin"], "when": "opset-below", "limit": 12,
          "instead": "raise-opset", "does": "refuses it", "source": "a file", "warns": false})");
  ASSERT_TRUE(target) << target.error().message;
  ASSERT_EQ(target->avoided.size(), 1u);
  const Quirk& quirk = target->avoided[0];
  EXPECT_EQ(quirk.id, "old");
  EXPECT_EQ(quirk.ops, (std::vector<std::string>{"ReduceMax", "ReduceMin"}));
  EXPECT_EQ(quirk.when, QuirkCondition::kOpsetBelow);
  EXPECT_EQ(quirk.limit, 12);
  EXPECT_EQ(quirk.instead, QuirkRemedy::kRaiseOpset);
  EXPECT_EQ(quirk.does, "refuses it");
  EXPECT_FALSE(quirk.warns);
}

TEST(Quirk, WrongRowsAreErrorsThatNameRowAndKey) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"ops": ["Softmax"], "does": "x"})", "quirks.id"},
      {R"({"id": "a", "does": "x"})", "quirks.a.ops"},
      {R"({"id": "a", "ops": ["Softmax"]})", "quirks.a.does"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "when": "full-moon"})", "quirks.a.when"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "instead": "pray"})", "quirks.a.instead"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "when": "opset-below"})", "quirks.a.limit"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "limit": 3})", "quirks.a.limit"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "colour": 3})", "quirks.a.colour"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "limit": 1e300, "instead": "raise-opset"})",
       "quirks.a.limit"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x", "limit": 12.5, "when": "opset-below"})",
       "quirks.a.limit"},
      {R"({"id": "a", "ops": ["Conv"], "does": "x", "instead": "bias-per-channel"})",
       "quirks.a.when"},
      {R"({"id": "a", "ops": ["ReduceSum"], "does": "x", "instead": "sum-in-double"})",
       "quirks.a.when"},
      {R"({"id": "a", "ops": ["Softmax"], "does": "x"}, {"id": "a", "ops": ["Add"], "does": "x"})",
       "quirks.a"},
  };
  for (const auto& [row, key] : rows) {
    const auto target = WithQuirk(row);
    ASSERT_FALSE(target) << row;
    EXPECT_EQ(target.error().code, Code::kUsage) << row;
    EXPECT_THAT(target.error().message, HasSubstr(key)) << row;
  }
}

TEST(Quirk, ListsAreBounded) {
  std::string rows;
  for (int i = 0; i < 257; ++i) {
    rows += fmt::format(R"({}{{"id": "{}", "ops": ["Add"], "does": "x"}})", i == 0 ? "" : ",", i);
  }
  EXPECT_THAT(WithQuirk(rows).error().message, HasSubstr("'quirks' must be a list of at most 256"));
  const std::vector<std::string> ops(257, R"("Add")");
  EXPECT_THAT(
      WithQuirk(fmt::format(R"({{"id": "a", "ops": [{}], "does": "x"}})", fmt::join(ops, ",")))
          .error()
          .message,
      HasSubstr("quirks.a.ops"));
}

TEST(Quirk, NewestVersionHasAnAliasAndTheDefaultTargetWarnsForIt) {
  const TargetQuirks newest = *BuiltInQuirks("onnxruntime");
  const TargetQuirks pinned = *BuiltInQuirks("onnxruntime-1.30");
  ASSERT_EQ(newest.avoided.size(), pinned.avoided.size());
  ASSERT_FALSE(pinned.avoided.empty());
  for (size_t i = 0; i < pinned.avoided.size(); ++i) {
    EXPECT_EQ(newest.avoided[i].id, pinned.avoided[i].id);
  }
  EXPECT_EQ(BuiltInQuirks("cpu-int8")->warn_for, "onnxruntime");
  ASSERT_EQ(BuiltInQuirks("cpu-int8")->avoided.size(), 1u);
  EXPECT_EQ(BuiltInQuirks("cpu-int8")->avoided[0].id, "float-parameters");
  EXPECT_EQ(newest.warn_for, "");
}

TEST(Quirk, EveryRowOfABuiltInNamesItsSource) {
  for (const std::string& name : BuiltInNames()) {
    const auto quirks = BuiltInQuirks(name);
    ASSERT_TRUE(quirks) << name;
    for (const Quirk& quirk : quirks->avoided) EXPECT_NE(quirk.source, "") << quirk.id;
  }
}

TEST(Quirk, ABuiltInGivesWarningsOfTheTable) {
  for (const std::string& name : BuiltInNames()) {
    const auto quirks = BuiltInQuirks(name);
    ASSERT_TRUE(quirks);
    for (const Quirk& quirk : quirks->avoided) {
      EXPECT_NE(ir::FindWarning(quirk.code), nullptr) << quirk.id << ": " << quirk.code;
    }
  }
}

TEST(Quirk, ATargetAvoidsQuirksOfTheRuntimeThatItWarnsFor) {
  const auto of = [](std::string_view keys) {
    return ParseQuirks(fmt::format(R"({{"name": "mine", {}}})", keys));
  };
  const auto ids = [&](std::string_view keys) {
    const auto target = of(keys);
    EXPECT_TRUE(target) << target.error().message;
    std::vector<std::string> names;
    for (const Quirk& quirk : target->avoided) names.push_back(quirk.id);
    return names;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(R"("base": "cpu-int8")"), Ids{"float-parameters"});
  EXPECT_EQ(ids(R"("base": "cpu-int8", "avoid": [])"), Ids{});
  EXPECT_EQ(ids(R"("base": "cpu-int8", "avoid": ["double-qdq"])"), Ids{"double-qdq"});
  EXPECT_EQ(ids(R"("base": "cpu-int8", "warn_for": "")"), Ids{});
  EXPECT_EQ(ids(R"("warn_for": "onnxruntime", "avoid": ["pool-ceil-shape", "double-qdq"])"),
            (Ids{"pool-ceil-shape", "double-qdq"}));
  for (const std::string_view keys :
       {R"("base": "cpu-int8", "avoid": ["full-moon"])", R"("avoid": ["double-qdq"])",
        R"("base": "cpu-int8", "avoid": "double-qdq")", R"("base": "cpu-int8", "avoid": [3])",
        R"("base": "onnxruntime", "warn_for": "onnxruntime", "avoid": ["double-qdq"])"}) {
    const auto target = of(keys);
    ASSERT_FALSE(target) << keys;
    EXPECT_EQ(target.error().code, Code::kUsage) << keys;
    EXPECT_THAT(target.error().message, HasSubstr("'avoid'")) << keys;
  }
}

TEST(Quirk, WarningsAreForABuiltInTarget) {
  const auto target = Parse(R"({"name": "mine", "warn_for": "abacus"})");
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message, HasSubstr("warn_for"));
}

}  // namespace
}  // namespace octavo::target

// SPDX-License-Identifier: Apache-2.0
// Each row of the table parses what it prints and refuses what its help excludes.
#include "core/options/option_table.h"

#include <gtest/gtest.h>

#include <set>

namespace octavo {
namespace {

using nlohmann::json;

// A valid argument of the row that differs from the default.
std::string AnotherArgument(const OptionRow& row) {
  switch (row.type) {
    case OptionType::kFlag:
      return "true";
    case OptionType::kInteger:
      return row.bounds.power_of_two ? "64" : "7";
    case OptionType::kReal:
      return "0.5";
    case OptionType::kText:
      if (row.name == "calibration") return "percentile:99.5";
      return row.name == "holdout" ? "none" : "another";
    case OptionType::kChoice:
      return std::string(row.choices().back().name);
    case OptionType::kNames:
      return "another";
    case OptionType::kShapes:
      return "x=1,2";
  }
  return "";
}

TEST(OptionTable, EveryArgumentChangesItsFieldAndComesBackFromJson) {
  for (const OptionRow& row : OptionTable()) {
    Options options;
    const std::string argument = AnotherArgument(row);
    const Status set = SetOptionText(row, options, argument);
    ASSERT_TRUE(set) << row.name << ": " << set.error().message;
    EXPECT_NE(options, Options()) << row.name;
    EXPECT_TRUE(IsSet(row, options)) << row.name;
    const auto object = OptionsJson(options);
    EXPECT_EQ(object.contains(row.name), row.changes_result) << row.name;
    EXPECT_EQ(ActionOptionsJson(options) != ActionOptionsJson({}),
              row.changes_result || row.adds_results)
        << row.name;
    if (!row.changes_result) continue;
    const auto read = OptionsFromJson(json::parse(object.dump()));
    ASSERT_TRUE(read) << row.name << ": " << read.error().message;
    EXPECT_EQ(*read, options) << row.name;
  }
}

TEST(OptionTable, TheDefaultsPassTheirOwnChecksAndComeBackFromJson) {
  EXPECT_TRUE(CheckOptions({}));
  const auto read = OptionsFromJson(json::parse(OptionsJson({}).dump()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, Options());
}

// The documentation of an option: its flags, help, choices and default.
TEST(OptionTable, EveryRowIsDocumentedAndNamedOnce) {
  std::set<std::string_view> names;
  for (const OptionRow& row : OptionTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(DefaultText(row).empty()) << row.name;
    const bool named = row.type == OptionType::kFlag || row.choices != nullptr;
    EXPECT_NE(row.value.empty(), !named)
        << row.name << ": a placeholder, or none where it has none";
    EXPECT_EQ(row.choices != nullptr, row.type == OptionType::kChoice) << row.name;
  }
}

struct Wrong {
  std::string name, argument, message;
};

TEST(OptionTable, AWrongArgumentNamesTheFlagTheValueAndWhatItMustBe) {
  const Wrong cases[] = {
      {"emit", "tosa", "--emit 'tosa' must be one of qdq, qlinear, native, text"},
      {"weights", "float", "--weights 'float' must be one of i8, i16, i4"},
      {"emit", "qlinaer",
       "--emit 'qlinaer' must be one of qdq, qlinear, native, text; did you mean 'qlinear'?"},
      {"numerics", "abacus",
       "--numerics 'abacus' must be one of onnx, tflite, tflite-single, glow-interpreter, "
       "glow-cpu, pow2"},
      {"calibration", "percentile:30",
       "--calibration 'percentile:30' must be minmax, percentile:P with P above 50 and at most "
       "100, mse or entropy"},
      {"calibration", "minmx",
       "--calibration 'minmx' must be minmax, percentile:P with P above 50 and at most 100, mse or "
       "entropy; did you mean 'minmax'?"},
      {"batch", "0", "--batch '0' must be a whole number, at least 1"},
      {"opset", "1e3", "--opset '1e3' must be a whole number, at least 1"},
      {"opset", "3000000000", "--opset '3000000000' must be a whole number, at least 1"},
      {"fold_budget", "-1", "--fold-budget '-1' must be a whole number, at least 0"},
      {"external_over", "1800000001",
       "--external-over '1800000001' must be a whole number, from 0 to 1800000000"},
      {"require_sqnr", "0", "--require-sqnr '0' must be a number, above 0"},
      {"require_sqnr", "nan", "--require-sqnr 'nan' must be a number, above 0"},
      {"require_cosine", "1.5", "--require-cosine '1.5' must be a number, from 0 to 1"},
      {"block", "48", "--block '48' must be a whole number, a power of two from 16 to 256"},
      {"block", "8", "--block '8' must be a whole number, a power of two from 16 to 256"},
      {"block", "512", "--block '512' must be a whole number, a power of two from 16 to 256"},
      {"block", "-32", "--block '-32' must be a whole number, a power of two from 16 to 256"},
      {"block", "x", "--block 'x' must be a whole number, a power of two from 16 to 256"},
      {"shape", "x=1,,3", "--shape 'x=1,,3' must be NAME=D,D,.. with positive dimensions"},
      {"shape", "x=1,0", "--shape 'x=1,0' must be NAME=D,D,.. with positive dimensions"},
      {"shape", "=1", "--shape '=1' must be NAME=D,D,.. with positive dimensions"},
      {"output_name", "../m", "--output-name '../m' must be a file name without a folder"},
  };
  for (const Wrong& wrong : cases) {
    Options options;
    const Status status = SetOptionText(*FindOption(wrong.name), options, wrong.argument);
    ASSERT_FALSE(status) << wrong.message;
    EXPECT_EQ(status.error().code, Code::kUsage);
    EXPECT_EQ(status.error().field, wrong.name);
    EXPECT_EQ(status.error().message, wrong.message);
    EXPECT_EQ(options, Options()) << wrong.message;
  }
}

TEST(OptionTable, ArgumentsOfAListAddUp) {
  Options options;
  for (const char* argument : {"a", "b c"}) {
    ASSERT_TRUE(SetOptionText(*FindOption("keep_float"), options, argument));
  }
  EXPECT_EQ(options.keep_float, (std::vector<std::string>{"a", "b c"}));
  ASSERT_TRUE(SetOptionText(*FindOption("passes"), options, "lower,quantize"));
  EXPECT_EQ(options.passes, (std::vector<std::string>{"lower", "quantize"}));
  ASSERT_TRUE(SetOptionText(*FindOption("shape"), options, "a=b=2"));
  EXPECT_EQ(options.shape, (ShapeMap{{"a=b", {2}}}));
  const Status twice = SetOptionText(*FindOption("shape"), options, "a=b=3");
  EXPECT_EQ(twice.error().message, "--shape names 'a=b' twice");
}

TEST(OptionTable, AFieldSetOutOfBoundsIsFound) {
  Options options;
  options.external_over = kMaxInlineWeights + 1;
  EXPECT_EQ(CheckOptions(options).error().field, "external_over");
  options = {};
  options.shape["x"] = {1, 0};
  EXPECT_EQ(CheckOptions(options).error().field, "shape");
}

TEST(OptionTable, JsonOfAnotherTypeNamesTheOption) {
  for (const char* text :
       {R"({"batch": "1"})", R"({"batch": 1.5})", R"({"keep_float": [1]})", R"({"emit": true})"}) {
    const auto read = OptionsFromJson(json::parse(text));
    ASSERT_FALSE(read) << text;
    EXPECT_FALSE(read.error().field.empty()) << text;
  }
}

// The action digest depends on the keys and their order.
TEST(OptionTable, TheJsonOfTheDefaultsIsThis) {
  EXPECT_EQ(
      OptionsJson({}).dump(),
      R"({"target":"cpu-int8","emit":"qdq","schema":"","activations":"","weights":"",)"
      R"("granularity":"","calibration":"minmax","rounding":"","equalize":"auto","output_type":"",)"
      R"("keep_float":[],"int16":[],"accuracy_budget":0.0,"search":false,"advise":false,)"
      R"("weights_only":[],"block":32,)"
      R"("numerics":"","numerics_limit":"fewer-roundings","no_quantize":false,)"
      R"("stop_before":"","skip":[],"passes":[],"integer_io":false,"sink_quantize":false,)"
      R"("leave_integers":false,"own_parameters":false,"fold_budget":4194304,)"
      R"("external_over":1800000000,"opset":0,"shape":{},"batch":0,"image":"","cast":false,"samples":0,"holdout":"auto",)"
      R"("strict_ops":false,"strict_profile":false,)"
      R"("require_sqnr":0.0,"require_cosine":0.0,"allow_random":false,)"
      R"("allow_non_finite":false,"deterministic":false,)"
      R"("output_name":"model.onnx"})");
}

TEST(OptionTable, ACommaSeparatesNamesAndAfterABackslashIsPartOfOne) {
  for (const OptionRow& row : OptionTable()) {
    if (row.type != OptionType::kNames) continue;
    Options options;
    ASSERT_TRUE(SetOptionText(row, options, "/a/Conv,b*")) << row.name;
    ASSERT_TRUE(SetOptionText(row, options, "c\\,d")) << row.name;
    EXPECT_EQ(row.get(options), OptionValue(std::vector<std::string>{"/a/Conv", "b*", "c,d"}));
    for (const char* wrong : {"", "a,", ",a", "a,,b"}) {
      const Status set = SetOptionText(row, options, wrong);
      ASSERT_FALSE(set) << row.name << ' ' << wrong;
      EXPECT_EQ(set.error().code, Code::kUsage);
    }
  }
}

}  // namespace
}  // namespace octavo

// SPDX-License-Identifier: Apache-2.0
// Readers return the ranges in other tools' profiles, and name what is wrong in a bad one.
#include <gmock/gmock.h>

#include "core/profile/profile.h"

namespace octavo::profile {
namespace {

using testing::HasSubstr;

const std::string kGlow = R"(---
GlowToolsVersion: '2021-01-01'
...
---
GraphPreLowerHash: 0x00000000000000FF
...
---
- NodeOutputName: 'x:0'
  Min: -1.5
  Max: 2.25
  Histogram: [ 1, 2.5, 3 ]
- NodeOutputName: conv__2:0
  Min: 0.0
  Max: 1e+01
  Histogram: [  ]
...
)";

void ExpectRange(const Profile& profile, std::string_view name, float min, float max) {
  const auto at = profile.values.find(name);
  ASSERT_NE(at, profile.values.end()) << name;
  EXPECT_EQ(at->second.min, min);
  EXPECT_EQ(at->second.max, max);
  EXPECT_FALSE(at->second.histogram);
}

Profile Read(std::string_view text) {
  auto profile = Parse(text);
  if (profile) return *profile;
  ADD_FAILURE() << profile.error().message;
  return {};
}

void ExpectRefused(std::string_view text, const std::string& what) {
  const auto profile = Parse(text);
  ASSERT_FALSE(profile) << text;
  EXPECT_EQ(profile.error().code, Code::kInvalidArgument);
  EXPECT_THAT(profile.error().message, HasSubstr(what));
}

std::string Replaced(std::string text, const std::string& old, const std::string& with) {
  text.replace(text.find(old), old.size(), with);
  return text;
}

TEST(Formats, GlowYaml) {
  const Profile profile = Read(kGlow);
  EXPECT_TRUE(profile.glow_names);
  EXPECT_EQ(profile.values.size(), 2u);
  ExpectRange(profile, "x:0", -1.5f, 2.25f);
  ExpectRange(profile, "conv__2:0", 0, 10);
}

TEST(Formats, GlowYamlThatIsWrongNamesTheLine) {
  ExpectRefused(Replaced(kGlow, "2.25", "high"), "line 10: 'Max' must be a finite number");
  ExpectRefused(Replaced(kGlow, "2.25", ".nan"), "line 10: ");
  ExpectRefused(Replaced(kGlow, "2.25", "-2.25"), "line 8: 'x:0' needs a finite min and max");
  ExpectRefused(Replaced(kGlow, "conv__2:0", "x:0"), "line 12: 'x:0' is listed twice");
  ExpectRefused(Replaced(kGlow, "  Min: -1.5\n", ""), "line 8: 'Min' is missing");
  ExpectRefused(Replaced(kGlow, "Min: -1.5", "Mean: -1.5"), "line 9: 'Mean' is not a key");
  ExpectRefused(Replaced(kGlow, "[ 1, 2.5", "[ 1, [2.5]"), "line 11: ");
  ExpectRefused(kGlow.substr(0, kGlow.find("---\n- Node")), "this has 2");
  ExpectRefused(kGlow + "---\n[]\n", "unexpected fourth document");
}

TEST(Formats, GlowYamlReadsAsItWasWritten) {
  Profile profile;
  profile.values["a \"b\"\\\n"] = {.min = -0.1f, .max = 3.4028235e38f};
  Histogram histogram;
  histogram.Add(std::vector<float>{0, 1, 1, 3});
  profile.values["h"] = {.min = 0, .max = 3, .histogram = histogram};
  const Profile read = Read(ToGlowYaml(profile));
  ExpectRange(read, "a \"b\"\\\n:0", -0.1f, 3.4028235e38f);
  ExpectRange(read, "h:0", 0, 3);
  EXPECT_EQ(ToGlowYaml(Read(ToJson(read))), ToGlowYaml(read));
}

TEST(Formats, OnnxRuntimeJson) {
  const Profile data = Read(R"({"CLS": "TensorsData", "data": {"x": {
      "lowest": {"data": -1.5, "dtype": "float32", "CLS": "numpy.array"},
      "highest": {"data": [2.25], "dtype": "float32", "CLS": "numpy.array"},
      "hist": {"data": [1, 2], "dtype": "int64", "CLS": "numpy.array"}, "CLS": "TensorData"}},
      "calibration_method": {"CLS": "CalibrationMethod", "value": "CalibrationMethod.MinMax"}})");
  ExpectRange(data, "x", -1.5f, 2.25f);
  ExpectRange(Read(R"({"x": {"CLS": "TensorData", "lowest": -1, "highest": 1}})"), "x", -1, 1);
  ExpectRange(Read(R"({"x": [-1, 1]})"), "x", -1, 1);
}

TEST(Formats, OnnxRuntimeJsonThatIsWrongNamesTheTensor) {
  ExpectRefused(R"({"x": [-1, 1], "y": [1, -1]})", "'y' needs a finite min and max");
  ExpectRefused(R"({"x": [-1, 1], "y": [-1, 1e60]})", "'y' needs a finite");
  ExpectRefused(R"({"x": [-1, 1], "y": [1]})", "'y'");
  ExpectRefused(R"({"CLS": "TensorsData", "data": {"x": {"lowest": 1}}})", "'x': must have");
  ExpectRefused(R"({"CLS": "TensorsData"})", "'data' must be an object");
}

TEST(Formats, TensorRtCache) {
  const Profile profile =
      Read("TRT-8400-EntropyCalibration2\nx: 3f800000\r\n(Unnamed Layer* 5) [a]: b: 3e000000\n");
  EXPECT_FALSE(profile.glow_names);
  ExpectRange(profile, "x", -127, 127);
  ExpectRange(profile, "(Unnamed Layer* 5) [a]: b", -15.875f, 15.875f);
}

TEST(Formats, TensorRtCacheThatIsWrongNamesTheLine) {
  const std::string head = "TRT-8400-MinMaxCalibration\nx: 3f800000\n";
  ExpectRefused(head + "y 3f800000\n", "line 3: must be '<tensor>: <scale>'");
  ExpectRefused(head + "y: 3f80\n", "line 3: the scale must be eight hex digits");
  ExpectRefused(head + "y: 7fc00000\n", "line 3: the scale must be finite");
  ExpectRefused(head + "y: bf800000\n", "line 3: the scale must be finite and not negative");
  ExpectRefused(head + "x: 3f800000\n", "line 3: 'x' is listed twice");
  ExpectRefused(head + "y: 7f7fffff\n", "line 3: 'y' needs a finite");
}

}  // namespace
}  // namespace octavo::profile

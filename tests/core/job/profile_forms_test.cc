// SPDX-License-Identifier: Apache-2.0
// The optimized model does not depend on the profile's format.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/job/job.h"

namespace octavo::job {
namespace {

constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  %c = Conv(%x, %w) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %y = Relu(%c) : tensor<1x4x8x8xf32>
}
)";

std::string ModelWith(std::string_view profile) {
  Request request;
  request.model = {"tiny.graph", Blob(std::string(kModel))};
  request.profile = NamedBlob{"profile", Blob(std::string(profile))};
  request.options.emit = EmitForm::kText;
  request.options.deterministic = true;
  request.options.threads = 1;
  const auto outcome = Run(request, {}, {});
  if (outcome) return std::string(outcome->model.bytes.text());
  ADD_FAILURE() << outcome.error().message;
  return {};
}

TEST(ProfileForms, GiveEqualModels) {
  const std::string own = ModelWith(R"({"octavo_profile": 1, "values": [
      {"name": "x", "min": -127, "max": 127}, {"name": "c", "min": -254, "max": 254},
      {"name": "y", "min": -127, "max": 127}]})");
  EXPECT_EQ(own, ModelWith("TRT-8400-EntropyCalibration2\nx: 3f800000\nc: 40000000\n"
                           "y: 3f800000\n"));
  EXPECT_EQ(own, ModelWith(R"({"x": [-127, 127], "c": [-254, 254], "y": [-127, 127]})"));
  EXPECT_EQ(own, ModelWith("---\nGlowToolsVersion: ''\n...\n---\nGraphPreLowerHash: 0x0\n...\n---\n"
                           "- {NodeOutputName: 'x:0', Min: -127, Max: 127, Histogram: []}\n"
                           "- {NodeOutputName: c__1:0, Min: -254, Max: 254, Histogram: []}\n"
                           "- {NodeOutputName: y, Min: -127.0, Max: 127.0, Histogram: []}\n...\n"));
}

// Preparation removes values with these names: a constant, a normalization, an Identity, parts of a
// decomposed HardSwish, and a value without consumers.
constexpr std::string_view kFolded = R"(graph(%x: tensor<1x3x4x4xf32>) -> (%"y/out") {
  const %w0 = random(1) : tensor<1x1x3x4xf32>
  const %s = [1, 2, 0.5, 1] : tensor<4xf32>
  const %b = [0.1, 0, 0, 0.3] : tensor<4xf32>
  const %v = [1, 1, 2, 1] : tensor<4xf32>
  const %three = [3] : tensor<f32>
  const %zero = [0] : tensor<f32>
  const %six = [6] : tensor<f32>
  %"w/t" = Transpose(%w0) {perm=[3, 2, 0, 1]} : tensor<4x3x1x1xf32>
  %"c/out" = Conv(%x, %"w/t") : tensor<1x4x4x4xf32>
  %dead = Sigmoid(%"c/out") : tensor<1x4x4x4xf32>
  %"n/out" = BatchNormalization(%"c/out", %s, %b, %b, %v) : tensor<1x4x4x4xf32>
  %i = Identity(%"n/out") : tensor<1x4x4x4xf32>
  %p = Add(%i, %three) : tensor<1x4x4x4xf32>
  %k = Clip(%p, %zero, %six) : tensor<1x4x4x4xf32>
  %m = Mul(%i, %k) : tensor<1x4x4x4xf32>
  %h = Div(%m, %six) : tensor<1x4x4x4xf32>
  %"y/out" = Sigmoid(%h) : tensor<1x4x4x4xf32>
}
)";
const std::vector<std::string> kNames = {"x", "w0", "w/t", "c/out", "dead", "n/out",
                                         "i", "p",  "k",   "m",     "h",    "y/out"};

// What the report states about a profile with these names.
nlohmann::json MatchOf(const std::string& profile, bool strict) {
  Request request;
  request.model = {"folded.graph", Blob(std::string(kFolded))};
  request.profile = NamedBlob{"profile", Blob(profile)};
  request.options.strict_profile = strict;
  request.options.threads = 1;
  const auto outcome = Run(request, {}, {});
  if (!outcome) return outcome.error().message;
  return nlohmann::json::parse(outcome->report_json).at("profile");
}

std::string InForm(std::string_view form, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (form == "onnxruntime")
      text += fmt::format("{}\"{}\": [-2, 2]", text.empty() ? "" : ", ", name);
    if (form == "tensorrt") text += fmt::format("{}: 3c800000\n", name);
    if (form == "glow") {
      std::string legal = name;
      std::replace(legal.begin(), legal.end(), '/', '_');
      text +=
          fmt::format("- {{NodeOutputName: '{}__4:0', Min: -2, Max: 2, Histogram: []}}\n", legal);
    }
  }
  if (form == "onnxruntime") return "{" + text + "}";
  if (form == "tensorrt") return "TRT-8400-EntropyCalibration2\n" + text;
  return "---\nGlowToolsVersion: ''\n...\n---\nGraphPreLowerHash: 0x0\n...\n---\n" + text + "...\n";
}

TEST(ProfileForms, NamesOfValuesFoldedAwayAreKnown) {
  for (const std::string_view form : {"onnxruntime", "tensorrt", "glow"}) {
    const nlohmann::json match = MatchOf(InForm(form, kNames), /*strict=*/true);
    ASSERT_TRUE(match.is_object()) << form << ": " << match;
    EXPECT_EQ(match.at("matched"), kNames.size()) << form;
    EXPECT_TRUE(match.at("unmatched_entries").empty()) << form;
    EXPECT_TRUE(match.at("missing_values").empty()) << form;
  }
}

TEST(ProfileForms, NamesThatTheModelNeverHadAreListedOrWrong) {
  std::vector<std::string> names = kNames;
  names.emplace_back("nowhere");
  for (const std::string_view form : {"onnxruntime", "tensorrt", "glow"}) {
    const nlohmann::json match = MatchOf(InForm(form, names), /*strict=*/false);
    ASSERT_TRUE(match.is_object()) << form << ": " << match;
    EXPECT_EQ(match.at("matched"), kNames.size()) << form;
    ASSERT_EQ(match.at("unmatched_entries").size(), 1u) << form;
    const nlohmann::json refused = MatchOf(InForm(form, names), /*strict=*/true);
    EXPECT_NE(refused.dump().find("names no value of the model"), std::string::npos) << form;
  }
}

}  // namespace
}  // namespace octavo::job

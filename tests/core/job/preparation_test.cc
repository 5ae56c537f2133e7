// SPDX-License-Identifier: Apache-2.0
// `octavo profile` prepares a model as the job does, whatever the limit forbids of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

// A BatchNormalization folds into a Conv, and two ops become a Swish, unless the limit is `exact`.
constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %scale = [1, 0.5, 2, 1.5] : tensor<4xf32>
  const %shift = [0.1, -0.2, 0.3, 0] : tensor<4xf32>
  const %mean = [0.05, 0.1, -0.1, 0.2] : tensor<4xf32>
  const %variance = [1.1, 0.9, 2, 0.3] : tensor<4xf32>
  const %w2 = random(2) : tensor<5x4x1x1xf32>
  %c = Conv(%x, %w) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %n = BatchNormalization(%c, %scale, %shift, %mean, %variance) : tensor<1x4x8x8xf32>
  %s = Sigmoid(%n) : tensor<1x4x8x8xf32>
  %m = Mul(%n, %s) : tensor<1x4x8x8xf32>
  %y = Conv(%m, %w2) : tensor<1x5x8x8xf32>
}
)";
constexpr NumericsLimit kLimits[] = {NumericsLimit::kExact, NumericsLimit::kFewerRoundings,
                                     NumericsLimit::kFewerClamps, NumericsLimit::kNewParameters};

const NamedBlob kNet = {"net.graph", Blob(std::string(kModel))};
const std::vector<NamedBlob> kSamples = {{"random:7:4", Blob(std::string())}};

std::string ProfileAt(NumericsLimit limit) {
  const auto profile =
      MakeProfile({.model = kNet, .samples = kSamples, .threads = 1}, limit, {}, {});
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? *profile : "";
}

// A job with the profile, or with the samples where there is none.
Outcome JobAt(NumericsLimit limit, const std::string& profile) {
  Request request{.model = kNet};
  request.options.emit = EmitForm::kText;
  request.options.numerics_limit = limit;
  request.options.threads = 1;
  request.options.deterministic = true;
  request.options.rounding = Rounding::kNearest;  // a profile has no moments
  if (profile.empty()) {
    request.samples = kSamples;
  } else {
    request.profile = NamedBlob{"p.json", Blob(profile)};
    request.options.strict_profile = true;
  }
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : Outcome{.report_json = "{}"};
}

TEST(Preparation, AProfileOfALimitGivesTheJobThatTheSamplesGive) {
  for (const NumericsLimit limit : kLimits) {
    const Outcome by_profile = JobAt(limit, ProfileAt(limit));
    EXPECT_EQ(by_profile.model.bytes.text(), JobAt(limit, "").model.bytes.text())
        << "limit " << static_cast<int>(limit);
  }
}

TEST(Preparation, AProfileOfAnyLimitMatchesUnderEveryLimit) {
  for (const NumericsLimit made : kLimits) {
    const std::string profile = ProfileAt(made);
    for (const NumericsLimit limit : kLimits) {
      const std::string both =
          fmt::format("made at {}, used at {}", static_cast<int>(made), static_cast<int>(limit));
      const json report = json::parse(JobAt(limit, profile).report_json);
      ASSERT_TRUE(report.contains("profile")) << both;
      EXPECT_EQ(report["profile"]["unmatched_entries"], json::array()) << both;
      EXPECT_EQ(report["profile"]["missing_values"], json::array()) << both;
      const json with_samples = json::parse(JobAt(limit, "").report_json);
      EXPECT_EQ(report["float_nodes"], with_samples["float_nodes"]) << both;
    }
  }
}

}  // namespace
}  // namespace octavo::job

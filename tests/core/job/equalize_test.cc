// SPDX-License-Identifier: Apache-2.0
// --equalize: channels of unequal ranges share a value's range.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "tests/core/job/graph_jobs.h"

namespace octavo::job {
namespace {

using testing::HasSubstr;

// The channels of %a differ by factors up to 16.
constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %u = [4, 0.25, 0.5, 0.3, -4, 0.2, 0.25, 0.25, 3, -0.25, 0.5, 0.25, 2, 0.25, -0.5, 0.2] : tensor<4x4xf32>
  const %w = [0.01, 0.02, 1, 2, 1, -1, -1, 0.5] : tensor<4x2xf32>
  %a = MatMul(%x, %u) : tensor<1x4xf32>
  %r = Relu(%a) : tensor<1x4xf32>
  %y = MatMul(%r, %w) : tensor<1x2xf32>
}
)";

ir::Tensor Rows(int64_t count) {
  ir::Tensor rows(ir::DType::kF32, {count, 4});
  for (int64_t i = 0; i < rows.size(); ++i) {
    rows.mutable_values<float>()[i] = static_cast<float>(i * i * 7 % 83) / 41 - 1;
  }
  return rows;
}

NamedBlob File(const std::string& name, const ir::Tensor& rows) {
  return {name, Blob(data::WriteNpy(rows))};
}

Request JobWith(Equalize equalize, std::vector<NamedBlob> samples) {
  Request request{.model = {"net.graph", Blob(std::string(kModel))}, .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  request.options.deterministic = true;
  request.options.rounding = Rounding::kNearest;
  request.options.equalize = equalize;
  return request;
}

Request JobWith(Equalize equalize) { return JobWith(equalize, {File("x.npy", Rows(64))}); }

double SqnrOf(const GraphDone& done) { return done.report["numerics"]["outputs"][0]["sqnr_db"]; }

bool Applied(const GraphDone& done) {
  return std::ranges::any_of(done.report["ledger"], [](const json& entry) {
    return entry["rule"] == "equalize/channels";
  });
}

std::string WarningOf(const GraphDone& done) {
  for (const json& warning : done.report["warnings"]) {
    if (warning["code"] == "not_equalized") return warning["message"];
  }
  return {};
}

TEST(Equalize, UnequalChannelsGainAccuracy) {
  const GraphDone off = RunGraphJob(JobWith(Equalize::kOff));
  const GraphDone on = RunGraphJob(JobWith(Equalize::kOn));
  EXPECT_TRUE(Applied(on)) << on.report["ledger"].dump();
  EXPECT_FALSE(Applied(off));
  EXPECT_GT(SqnrOf(on), SqnrOf(off) + 3);
  EXPECT_EQ(WarningOf(on), "");
  EXPECT_EQ(on.report["options"]["equalize"], "on");
}

// ------------------------------------------------------------ --equalize auto

TEST(Equalize, AutoIsOnWhereATrialGains) {
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kBias, Rounding::kDescent}) {
    Request request = JobWith(Equalize::kOn);
    request.options.rounding = rounding;
    const GraphDone on = RunGraphJob(request);
    request.options.equalize = Equalize::kAuto;
    const GraphDone automatic = RunGraphJob(request);
    EXPECT_EQ(automatic.text, on.text);
    EXPECT_EQ(automatic.report["options"]["equalize"], "on");
    const json& trial = automatic.report["equalize_trial"];
    EXPECT_EQ(trial["chosen"], true);
    EXPECT_GT(trial["equalized_score_db"], trial["score_db"]);
    EXPECT_EQ(on.report["equalize_trial"], nullptr);
  }
}

ir::Tensor Of(const ir::Tensor& rows, const std::vector<int64_t>& places) {
  ir::Tensor some(ir::DType::kF32, {static_cast<int64_t>(places.size()), 4});
  for (size_t i = 0; i < places.size(); ++i) {
    std::ranges::copy(rows.values<float>().subspan(places[i] * 4, 4),
                      some.mutable_values<float>().begin() + static_cast<ptrdiff_t>(i) * 4);
  }
  return some;
}

// The mean SQNR of the odd rows after the even ones have calibrated.
double HalfScore(Equalize equalize, Rounding rounding, const ir::Tensor& rows) {
  double sum = 0;
  for (const int64_t odd : {1, 3, 5}) {
    Request half = JobWith(
        equalize, {File("x.npy", Of(rows, {0, 2, 4, 6})), File("evaluate:x.npy", Of(rows, {odd}))});
    half.options.rounding = rounding;
    sum += SqnrOf(RunGraphJob(half));
  }
  return sum / 3;
}

TEST(Equalize, TheTrialScoresOddSamplesAfterTheEvenOnesHaveCalibrated) {
  const ir::Tensor rows = Of(Rows(64), {5, 10, 12, 17, 23, 24, 28});
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kDescent}) {
    Request request = JobWith(Equalize::kAuto, {File("x.npy", rows)});
    request.options.rounding = rounding;
    const GraphDone automatic = RunGraphJob(request);
    const json& trial = automatic.report["equalize_trial"];
    EXPECT_NEAR(trial["score_db"].get<double>(), HalfScore(Equalize::kOff, rounding, rows), 1e-6);
    EXPECT_NEAR(trial["equalized_score_db"].get<double>(), HalfScore(Equalize::kOn, rounding, rows),
                1e-6);
  }
}

// Channels that the even samples hardly excite, and the odd ones do.
TEST(Equalize, AutoIsOffWhereATrialLoses) {
  ir::Tensor rows(ir::DType::kF32, {6, 4});
  const auto values = rows.mutable_values<float>();
  for (size_t row = 0; row < 6; ++row) {
    const float scale = 1 - 0.07F * static_cast<float>(row);
    if (row % 2 == 0) {
      values[row * 4] = scale;
    } else {
      values[row * 4] = values[row * 4 + 1] = 8 * scale;
    }
  }
  const std::vector<NamedBlob> samples = {File("x.npy", rows)};
  const GraphDone automatic = RunGraphJob(JobWith(Equalize::kAuto, samples));
  const json& trial = automatic.report["equalize_trial"];
  EXPECT_EQ(trial["chosen"], false);
  EXPECT_LT(trial["equalized_score_db"], trial["score_db"]);
  EXPECT_EQ(automatic.report["options"]["equalize"], "off");
  EXPECT_EQ(automatic.text, RunGraphJob(JobWith(Equalize::kOff, samples)).text);
}

TEST(Equalize, AutoIsOffWithoutSamplesForATrial) {
  Request request = JobWith(Equalize::kAuto, {File("x.npy", Rows(1))});
  GraphDone done = RunGraphJob(request);
  EXPECT_EQ(done.report["options"]["equalize"], "off");
  EXPECT_EQ(done.report["equalize_trial"], nullptr);
  request = JobWith(Equalize::kAuto);
  request.profile = ProfileOf("x:-1:1 a:-20:20 r:0:20 y:-30:30");
  done = RunGraphJob(request);
  EXPECT_EQ(done.report["options"]["equalize"], "off");
  EXPECT_EQ(done.report["equalize_trial"], nullptr);
}

TEST(Equalize, SamplesThatEvaluateDecideNothing) {
  const NamedBlob data = File("x.npy", Rows(12));
  const auto with = [&](const ir::Tensor& rows) {
    return RunGraphJob(JobWith(Equalize::kAuto, {data, File("evaluate:x.npy", rows)}));
  };
  const GraphDone one = with(Rows(6)), other = with(Rows(9));
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(one.report["equalize_trial"], other.report["equalize_trial"]);
}

TEST(Equalize, SearchFindsIt) {
  Request request = JobWith(Equalize::kAuto);
  request.options.search = true;
  const GraphDone done = RunGraphJob(request);
  EXPECT_EQ(done.report["options"]["equalize"], "on") << done.report["search"].dump();
}

TEST(Equalize, ThreadsDoNotChangeABit) {
  Request request = JobWith(Equalize::kAuto);
  request.options.rounding = Rounding::kDescent;
  const GraphDone one = RunGraphJob(request);
  EXPECT_TRUE(Applied(one));
  for (const int threads : {2, 5}) {
    request.options.threads = threads;
    const GraphDone more = RunGraphJob(request);
    EXPECT_EQ(more.text, one.text);
    EXPECT_EQ(more.report, one.report);
  }
}

NamedBlob ProfileOfRows(const ir::Tensor& rows) {
  ModelInput input{.model = {"net.graph", Blob(std::string(kModel))},
                   .samples = {File("x.npy", rows)}};
  auto profile = MakeProfile(input, NumericsLimit::kFewerRoundings, {}, {});
  EXPECT_TRUE(profile.has_value());
  return {"p.json", Blob(profile.value_or(""))};
}

TEST(Equalize, AProfileGivesTheSameModelAsItsSamples) {
  Request request = JobWith(Equalize::kOn);
  request.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  const GraphDone samples = RunGraphJob(request);
  request.profile = ProfileOfRows(Rows(64));
  request.options.holdout = {};
  const GraphDone profile = RunGraphJob(request);
  EXPECT_TRUE(Applied(profile));
  EXPECT_EQ(profile.text, samples.text);
}

TEST(Equalize, ShardsOfAProfileGiveTheSameModel) {
  Request request = JobWith(Equalize::kOn);
  request.profile = ProfileOfRows(Rows(64));
  const GraphDone whole = RunGraphJob(request);
  const ir::Tensor rows = Rows(64);
  std::vector<NamedBlob> shards;
  for (const int64_t half : {0, 1}) {
    ir::Tensor part(ir::DType::kF32, {32, 4});
    std::ranges::copy(rows.values<float>().subspan(half * 128, 128),
                      part.mutable_values<float>().begin());
    shards.push_back(ProfileOfRows(part));
  }
  const auto merged = MergeProfiles(shards);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(*merged, request.profile->bytes.text());
  request.profile = NamedBlob{"p.json", Blob(*merged)};
  EXPECT_EQ(RunGraphJob(request).text, whole.text);
}

TEST(Equalize, AProfileWithoutChannelsIsAWarning) {
  Request request = JobWith(Equalize::kOn);
  request.profile = ProfileOf("x:-1:1 a:-20:20 r:0:20 y:-30:30");
  const GraphDone done = RunGraphJob(request);
  EXPECT_FALSE(Applied(done));
  EXPECT_THAT(WarningOf(done), HasSubstr("no ranges of channels"));
}

TEST(Equalize, WithoutQuantizationIsAWarning) {
  Request request = JobWith(Equalize::kOn);
  request.options.no_quantize = true;
  EXPECT_THAT(WarningOf(RunGraphJob(request)), HasSubstr("nothing is quantized"));
}

TEST(Equalize, ASkippedPassDoesNothing) {
  Request request = JobWith(Equalize::kOn);
  request.options.skip = {"equalize"};
  EXPECT_FALSE(Applied(RunGraphJob(request)));
}

// Names of the model still select what they name.
TEST(Equalize, NamesOfTheModelSelectEqualizedValues) {
  Request request = JobWith(Equalize::kOn);
  request.options.int16 = {"r"};
  const GraphDone done = RunGraphJob(request);
  EXPECT_TRUE(Applied(done));
  EXPECT_THAT(done.text, HasSubstr("xi16"));
  for (const json& warning : done.report["warnings"]) {
    EXPECT_NE(warning["code"], "no_effect") << warning.dump();
    EXPECT_NE(warning["code"], "unknown_name") << warning.dump();
  }
}

}  // namespace
}  // namespace octavo::job

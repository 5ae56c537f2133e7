// SPDX-License-Identifier: Apache-2.0
// Samples of several sizes and batch sizes calibrate one model.
#include <gmock/gmock.h>

#include "tests/core/job/sized_job.h"
#include "tests/core/job/without_stamp.h"

namespace octavo::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ProfileAt(const Blob& model, const std::vector<NamedBlob>& samples) {
  ModelInput input{.model = {"m.onnx", model}, .samples = samples};
  const auto profile = MakeProfile(input, NumericsLimit::kFewerRoundings, {}, {});
  EXPECT_TRUE(profile) << profile.error().message;
  return profile.value_or("");
}

NamedBlob Sample(const std::string& name, const ir::Shape& shape, float scale) {
  return {name, Blob(data::WriteNpy(Noise(shape, scale)))};
}

TEST(SamplesOfSeveralSizes, CalibrateOneModel) {
  const Blob model = ResizedToSkip().Build();
  const NamedBlob small = Sample("0.npy", {3, 16, 16}, 1), large = Sample("1.npy", {3, 24, 20}, 3),
                  batch = Sample("2.npy", {2, 3, 16, 16}, 2);
  const json together = json::parse(ProfileAt(model, {small, large, batch}));
  EXPECT_EQ(together["samples"], 4);
  // As profiles of each size, merged.
  const auto merged = MergeProfiles({{"a.json", Blob(ProfileAt(model, {small, batch}))},
                                     {"b.json", Blob(ProfileAt(model, {large}))}});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(together, json::parse(*merged));
  // In any order.
  EXPECT_EQ(together["values"], json::parse(ProfileAt(model, {large, batch, small}))["values"]);
}

TEST(SamplesOfSeveralSizes, GiveTheModelOfTheirProfile) {
  const Blob model = ResizedToSkip().Build();
  const std::vector<NamedBlob> samples = {Sample("0.npy", {3, 16, 16}, 1),
                                          Sample("1.npy", {3, 24, 20}, 3)};
  // A profile has no moments to round weights by.
  const auto change = [&](Request& request) {
    request.samples = samples;
    request.options.rounding = Rounding::kNearest;
  };
  const SizedDone done = RunJob(model, {}, change);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "width"));
  bool said = false;
  for (const json& warning : done.report["warnings"]) {
    said |= warning["message"].get<std::string>().find("without the 1 of other sizes") !=
            std::string::npos;
  }
  EXPECT_TRUE(said) << done.report["warnings"];
  const SizedDone profiled = RunJob(model, {}, [&](Request& request) {
    request.samples = {samples.front()};
    request.profile = NamedBlob{"p.json", Blob(ProfileAt(model, samples))};
  });
  EXPECT_TRUE(WithoutStamp(done.outcome.model.bytes) == WithoutStamp(profiled.outcome.model.bytes));
}

TEST(SamplesOfSeveralSizes, CountUpToTheOptionSamples) {
  ModelInput input{.model = {"m.onnx", ResizedToSkip().Build()},
                   .samples = {Sample("0.npy", {2, 3, 16, 16}, 1), Sample("1.npy", {3, 24, 20}, 3),
                               Sample("2.npy", {4, 3, 16, 16}, 1)}};
  input.reading.samples = 4;
  const auto profile = MakeProfile(input, NumericsLimit::kFewerRoundings, {}, {});
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(json::parse(*profile)["samples"], 4);
}

TEST(SamplesOfSeveralSizes, AreRefusedWhereTheSizeIsFixed) {
  Request request{.model = {"m.onnx", ResizedToSkip().Build()},
                  .samples = {Sample("0.npy", {3, 16, 16}, 1), Sample("1.npy", {3, 24, 20}, 3)}};
  request.options.shape["x"] = {1, 3, 16, 16};
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("has shape [3,24,20]"));
}

}  // namespace
}  // namespace octavo::job

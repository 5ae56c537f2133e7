// SPDX-License-Identifier: Apache-2.0
// Samples with NaN or infinite elements are refused with file and index, or counted.
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3xf32>
  %s = Add(%x, %z) : tensor<1x4xf32>
  %y = MatMul(%s, %w) : tensor<1x3xf32>
}
)";

NamedBlob Model() { return {"net.graph", Blob(std::string(kModel))}; }

NamedBlob Row(const std::string& name, const std::vector<float>& values) {
  const auto rows = static_cast<int64_t>(values.size()) / 4;
  return {name, Blob(data::WriteNpy(ir::Tensor::Of<float>({rows, 4}, values)))};
}

// Two folders; the second sample of the second one is `element`, -1, 2 and `other` for input z.
std::vector<NamedBlob> SamplesWith(float element, float other) {
  return {Row("4/input_0.npy", {1, 2, 3, 4}), Row("4/input_1.npy", {1, 0, 0, 4}),
          Row("7/input_0.npy", {1, 2, 3, 4, 5, 6, 7, 8}),
          Row("7/input_1.npy", {0, 0, 0, 0, element, -1, 2, other})};
}

void ExpectRefused(const Status& status) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  EXPECT_EQ(status.error().field, "z");
  EXPECT_EQ(status.error().message,
            "samples: '7/input_1.npy' is NaN at [1,0], of input 'z'; --allow-non-finite accepts "
            "it");
}

template <class T>
Status StatusOf(const Result<T>& result) {
  if (result) return {};
  return Forward(result.error());
}

Request JobOn(std::vector<NamedBlob> samples) {
  Request request{.model = Model(), .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  return request;
}

ModelInput InputOf(NamedBlob model, float element) {
  return {.model = std::move(model), .samples = SamplesWith(element, kInfinity), .threads = 1};
}

TEST(NonFiniteSamples, AreRefusedWithFileAndIndexByEveryCommand) {
  const auto quantized = job::Run(JobOn(SamplesWith(0, 1)), {}, {});
  ASSERT_TRUE(quantized) << quantized.error().message;
  ExpectRefused(StatusOf(job::Run(JobOn(SamplesWith(kNan, kInfinity)), {}, {})));
  const ModelInput input = InputOf(Model(), kNan);
  ExpectRefused(StatusOf(MakeProfile(input, NumericsLimit::kFewerRoundings, {}, {})));
  const ModelInput integers = InputOf(quantized->model, kNan);
  ExpectRefused(StatusOf(DiffModels({.model = Model()}, integers, {}, {}, {})));
  ExpectRefused(StatusOf(RunModel(integers, false, {}, {})));
}

TEST(NonFiniteSamples, AFloatModelRunsOnThem) {
  EXPECT_TRUE(RunModel(InputOf(Model(), kNan), false, {}, {}));
}

TEST(NonFiniteSamples, AreNamedByArrayAndIndexInAFileOfAll) {
  constexpr std::string_view kOne = R"(graph(%x: tensor<1x2xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x2xf32>
}
)";
  Request request =
      JobOn({{"x.npy",
              Blob(data::WriteNpy(ir::Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, -kInfinity})))}});
  request.model.bytes = Blob(std::string(kOne));
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("'x.npy' is minus infinite at [2,1]"));
}

TEST(NonFiniteSamples, AreCountedWhenTheyAreAllowed) {
  Request request = JobOn(SamplesWith(kNan, kInfinity));
  request.options.allow_non_finite = true;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const json report = json::parse(outcome->report_json);
  EXPECT_EQ(report["numerics"]["non_finite_inputs"],
            json::parse(R"([{"name": "z", "nans": 1, "infinities": 1}])"));
  int warnings = 0;
  for (const json& warning : report["warnings"]) {
    warnings += warning["code"] == "non_finite_samples";
  }
  EXPECT_EQ(warnings, 1);
}

TEST(NonFiniteSamples, OfADiffAreCountedWhenTheyAreAllowed) {
  const auto quantized = job::Run(JobOn(SamplesWith(0, 1)), {}, {});
  ASSERT_TRUE(quantized) << quantized.error().message;
  ModelInput input = InputOf(quantized->model, kNan);
  input.allow_non_finite = true;
  const auto report = DiffModels({.model = Model()}, input, {}, {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(json::parse(*report)["numerics"]["non_finite_inputs"].size(), 1u);
}

TEST(NonFiniteSamples, OfAProfileAreAWarningWhenTheyAreAllowed) {
  ModelInput input = InputOf(Model(), kNan);
  input.allow_non_finite = true;
  std::vector<ir::Warning> warnings;
  const auto profile = MakeProfile(input, NumericsLimit::kFewerRoundings, {}, {}, &warnings);
  ASSERT_TRUE(profile) << profile.error().message;
  std::vector<std::string_view> warning_codes;
  for (const ir::Warning& warning : warnings) warning_codes.push_back(warning.code.name());
  EXPECT_THAT(warning_codes, testing::ElementsAre("few_samples", "non_finite_samples"));
}

}  // namespace
}  // namespace octavo::job

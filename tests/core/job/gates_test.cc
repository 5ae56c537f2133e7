// SPDX-License-Identifier: Apache-2.0
// Which outputs pass --require-sqnr and --require-cosine, and by which samples they are judged.
#include "core/job/gates.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using testing::HasSubstr;

v1::ValueNumerics Output(std::optional<double> sqnr, std::optional<double> cosine,
                         bool exact = false) {
  v1::ValueNumerics output;
  output.set_name("y");
  if (sqnr) output.set_sqnr_db(*sqnr);
  if (cosine) output.set_cosine(*cosine);
  output.set_exact(exact);
  return output;
}

std::string Failed(double sqnr, double cosine, const std::vector<v1::ValueNumerics>& outputs) {
  Options options;
  options.require_sqnr = sqnr;
  options.require_cosine = cosine;
  return FailedGate(options, outputs);
}

TEST(Gates, AnUndefinedFigureFailsItsGate) {
  EXPECT_THAT(Failed(20, 0, {Output({}, 1)}), HasSubstr("output 'y' has no SQNR"));
  EXPECT_THAT(Failed(0, 0.9, {Output(30, {})}), HasSubstr("output 'y' has no cosine"));
  EXPECT_THAT(Failed(20, 0, {Output(30, 1), Output({}, {})}), HasSubstr("no SQNR"));
  EXPECT_EQ(Failed(20, 0, {Output(30, {})}), "");
  EXPECT_EQ(Failed(0, 0.9, {Output({}, 0.95)}), "");
  EXPECT_EQ(Failed(0, 0, {Output({}, {})}), "");
}

TEST(Gates, ExactEqualityPasses) {
  EXPECT_EQ(Failed(1000, 1, {Output({}, {}, /*exact=*/true)}), "");
  EXPECT_EQ(Failed(1000, 1, {Output({}, 0.9999999, /*exact=*/true)}), "");
}

TEST(Gates, AModelWithoutFiguresFails) {
  EXPECT_THAT(Failed(1, 0, {}), HasSubstr("no output has figures"));
  EXPECT_EQ(Failed(0, 0, {}), "");
}

TEST(Gates, RefuseRandomSamplesWithoutAllowRandom) {
  Options options;
  EXPECT_TRUE(CheckGateSamples(options, {"random:1"}));
  options.require_cosine = 0.5;
  EXPECT_TRUE(CheckGateSamples(options, {"s.npz"}));
  const Status status = CheckGateSamples(options, {"random:1:20"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUsage);
  EXPECT_EQ(status.error().field, "require_cosine");
  EXPECT_THAT(status.error().message, HasSubstr("--allow-random"));
  options.allow_random = true;
  EXPECT_TRUE(CheckGateSamples(options, {"random:1:20"}));
}

constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3xf32>
  %y = MatMul(%x, %w) : tensor<1x3xf32>
}
)";

Request JobOn(std::vector<NamedBlob> samples) {
  Request request{.model = {"net.graph", Blob(std::string(kModel))}, .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  return request;
}

std::vector<NamedBlob> AllOf(float element) {
  const ir::Tensor row = ir::Tensor::Of<float>({2, 4}, std::vector<float>(8, element));
  return {{"x.npy", Blob(data::WriteNpy(row))}};
}

TEST(Gates, SamplesThatAreAllNaNFail) {
  for (const bool by_sqnr : {true, false}) {
    Request request = JobOn(AllOf(std::numeric_limits<float>::quiet_NaN()));
    request.options.allow_non_finite = true;
    (by_sqnr ? request.options.require_sqnr : request.options.require_cosine) = 0.5;
    const auto outcome = job::Run(request, {}, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(outcome->gate_failed);
    EXPECT_THAT(outcome->message, HasSubstr(by_sqnr ? "has no SQNR" : "has no cosine"));
    EXPECT_FALSE(nlohmann::json::parse(outcome->report_json)["numerics"]["outputs"][0]["exact"]);
  }
}

TEST(Gates, AnOutputThatStaysFloatIsExactInTheReportAndPasses) {
  Request request = JobOn(AllOf(0.5));
  request.options.keep_float = {"MatMul"};
  request.options.require_sqnr = 1000;
  request.options.require_cosine = 1;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->gate_failed) << outcome->message;
  const auto output = nlohmann::json::parse(outcome->report_json)["numerics"]["outputs"][0];
  EXPECT_TRUE(output["exact"].get<bool>()) << output;
  EXPECT_TRUE(output["sqnr_db"].is_null());
}

TEST(Gates, AJobRefusesRandomSamplesBeforeItReadsTheModel) {
  Request request = JobOn({{"random:1:20", Blob(std::string())}});
  request.model.bytes = Blob(std::string("no model"));
  request.options.require_sqnr = 1;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUsage);
  EXPECT_EQ(outcome.error().field, "require_sqnr");
}

}  // namespace
}  // namespace octavo::job

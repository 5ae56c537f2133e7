// SPDX-License-Identifier: Apache-2.0
// Warnings of a job about its samples, its profile and its model's interface.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/job.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x4xf32>
  %y = MatMul(%x, %w) : tensor<1x4xf32>
}
)";

// Samples with elements from -1 to 1, times `factor`.
std::vector<NamedBlob> Samples(int64_t count, float factor = 1) {
  ir::Tensor rows(ir::DType::kF32, {count, 4});
  for (int64_t i = 0; i < rows.size(); ++i) {
    rows.mutable_values<float>()[static_cast<size_t>(i)] =
        factor * (static_cast<float>(i * 7 % 41) / 20 - 1);
  }
  return {{"x.npy", Blob(data::WriteNpy(rows))}};
}

Request JobOn(std::vector<NamedBlob> samples) {
  Request request{.model = {"net.graph", Blob(std::string(kModel))}, .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  return request;
}

json ReportOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? json::parse(outcome->report_json) : json();
}

std::vector<std::string> WarningCodesOf(const Request& request) {
  std::vector<std::string> warning_codes;
  const json report = ReportOf(request);
  for (const json& warning : report["warnings"]) warning_codes.push_back(warning["code"]);
  return warning_codes;
}

std::string MessageOf(std::string_view code, const Request& request) {
  const json report = ReportOf(request);
  for (const json& warning : report["warnings"]) {
    if (warning["code"] == code) return warning["message"];
  }
  return "no " + std::string(code);
}

NamedBlob Profile(std::string_view values, int samples) {
  return {"p.json", Blob(fmt::format(R"({{"octavo_profile": 1, "samples": {}, "values": [{}]}})",
                                     samples, values))};
}
constexpr std::string_view kRanges =
    R"({"name": "x", "min": -1, "max": 1}, {"name": "y", "min": -2, "max": 2})";

TEST(DataWarnings, OfSamplesThatAlsoCalibrated) {
  Request all = JobOn(Samples(16));
  all.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  EXPECT_THAT(WarningCodesOf(all), testing::ElementsAre("evaluated_on_calibration"));
  EXPECT_THAT(WarningCodesOf(JobOn(Samples(28))), Not(Contains("evaluated_on_calibration")));
  Request apart = JobOn(Samples(16));
  apart.profile = Profile(kRanges, 100);
  EXPECT_THAT(WarningCodesOf(apart), testing::IsEmpty());
}

TEST(DataWarnings, OfFewerThan16Samples) {
  EXPECT_THAT(WarningCodesOf(JobOn(Samples(15))), Contains("few_samples"));
  EXPECT_EQ(MessageOf("few_samples", JobOn(Samples(16))),
            "12 samples calibrate (4 are held back); ranges need 16 or more");
  EXPECT_THAT(WarningCodesOf(JobOn(Samples(21))), Not(Contains("few_samples")));
  Request profiled = JobOn(Samples(16));
  profiled.profile = Profile(kRanges, 4);
  EXPECT_THAT(MessageOf("few_samples", profiled), HasSubstr("the profile is of 4 samples"));
}

TEST(DataWarnings, OfRandomSamplesWhichTheReportNames) {
  const Request request = JobOn({{"random:1:20", Blob(std::string())}});
  EXPECT_THAT(WarningCodesOf(request), Contains("random_samples"));
  EXPECT_EQ(ReportOf(request)["numerics"]["samples_source"], "random");
  EXPECT_EQ(ReportOf(JobOn(Samples(16)))["numerics"]["samples_source"], "data");
}

TEST(DataWarnings, OfSyntheticSamples) {
  Request request = JobOn({});
  request.profile = Profile(kRanges, 100);
  EXPECT_THAT(WarningCodesOf(request), testing::ElementsAre("synthetic_samples"));
}

TEST(DataWarnings, OfAnInputThatNeverVaries) {
  EXPECT_EQ(MessageOf("constant_input", JobOn(Samples(16, 0))),
            "all 64 elements of input 'x' are equal in the samples");
}

TEST(DataWarnings, OfAnInputThatSaturates) {
  Request request = JobOn(Samples(16, 255));
  request.profile = Profile(kRanges, 100);
  EXPECT_THAT(MessageOf("saturated_input", request),
              HasSubstr("elements of input 'x' are outside of its quantized range"));
}

TEST(DataWarnings, NotOfAnInputWhoseRangeWasNarrowedByChoice) {
  const char* relu = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x4xf32>
}
)";
  Request request = JobOn(Samples(16));
  request.model = {"m.graph", Blob(std::string(relu))};
  EXPECT_THAT(WarningCodesOf(request), Not(Contains("saturated_input")));
}

TEST(DataWarnings, OfAProfileThatDoesNotMatch) {
  Request request = JobOn(Samples(16));
  request.profile = Profile(R"({"name": "x", "min": -1, "max": 1},
                               {"name": "old", "min": -1, "max": 1})",
                            100);
  EXPECT_EQ(MessageOf("profile_unmatched", request),
            "the profile's entry 'old' names no value of the model");
  EXPECT_EQ(MessageOf("profile_missing", request),
            "the profile has no entry for 'y'; such values stay float");
}

TEST(DataWarnings, AProfilesMisspeltEntryGetsTheNameThatWasMeant) {
  Request request = JobOn(Samples(16));
  request.profile = Profile(R"({"name": "x", "min": -1, "max": 1},
                               {"name": "Y", "min": -1, "max": 1})",
                            100);
  EXPECT_EQ(MessageOf("profile_unmatched", request),
            "the profile's entry 'Y' names no value of the model; did you mean 'y'?");
}

TEST(DataWarnings, WhereNothingIsQuantizedAtAll) {
  Request request = JobOn(Samples(16));
  request.options.keep_float = {"MatMul"};
  EXPECT_THAT(WarningCodesOf(request), Contains("nothing_to_quantize"));
}

// y = Relu(x), of an opset whose QuantizeLinear is too old.
Request Onnx(int64_t opset, const ir::Shape& shape) {
  onnx::ModelBuilder builder(opset);
  builder.Input("x", shape, onnx_wire::Tensor::FLOAT, "batch").Node("Relu", {"x"}, {"y"}, "r");
  builder.Output("y");
  Request request = JobOn(Samples(16));
  request.model = {"m.onnx", builder.Build()};
  request.options.emit = EmitForm::kQdq;
  request.options.output_type = OutputType::kInteger;
  return request;
}

TEST(DataWarnings, OfAnOpsetThatChanged) {
  EXPECT_THAT(MessageOf("opset_raised", Onnx(9, {1, 4})),
              HasSubstr("opset 9 of the model is raised to 1"));
  EXPECT_THAT(WarningCodesOf(Onnx(13, {1, 4})), Not(Contains("opset_raised")));
  Request asked = Onnx(9, {1, 4});
  asked.options.opset = 15;
  EXPECT_THAT(WarningCodesOf(asked), Not(Contains("opset_raised")));
}

TEST(DataWarnings, OfADimensionThatTheResultFixes) {
  EXPECT_THAT(WarningCodesOf(Onnx(13, {onnx::kOpen, 4})), Not(Contains("fixed_dimension")));
  onnx::ModelBuilder builder;
  builder.Input("x", {onnx::kOpen, 4}, onnx_wire::Tensor::FLOAT, "batch").Output("y");
  builder.Constant("shape", ir::Tensor::Ints({2, 2})).Node("Reshape", {"x", "shape"}, {"y"}, "r");
  Request request = Onnx(13, {1, 4});
  request.model.bytes = builder.Build();
  EXPECT_THAT(MessageOf("fixed_dimension", request),
              HasSubstr("dimension 0 ('batch') of input 'x' is open in the model and 1 in the "
                        "result: the model does not take 2x4: Reshape 'r'"));
}

}  // namespace
}  // namespace octavo::job

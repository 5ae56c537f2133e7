// SPDX-License-Identifier: Apache-2.0
// Every kind of report matches the message octavo.v1.Report: no unknown key, no missing key.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "core/job/execute.h"
#include "core/job/job.h"
#include "tests/core/job/tiny_model.h"
#include "tests/support/report_keys.h"

namespace octavo::job {
namespace {

const NamedBlob kSamples = {"random:7:4", Blob(std::string())};

ModelInput InputOf(NamedBlob model) {
  return {.model = std::move(model), .samples = {kSamples}, .threads = 1};
}

ModelInput FloatModel() { return InputOf({"tiny.graph", Blob(std::string(kTinyModel))}); }

Outcome Optimized(const Options& options = {}) {
  Request request{.options = options, .model = FloatModel().model, .samples = {kSamples}};
  request.options.emit = EmitForm::kNative;
  request.options.threads = 1;
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : Outcome();
}

v1::Report DiffOf(const ModelInput& input, std::optional<const numerics::Mode*> against = {}) {
  const auto report = DiffModels(FloatModel(), input, against, {}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? ExpectMatchesMessage(*report) : v1::Report();
}

v1::Report ByRuleOf(Granularity granularity) {
  const Outcome job = Optimized();
  const ByRule by_rule{.granularity = granularity};
  const auto report = AddByRule(job.report_json, by_rule, FloatModel(), InputOf(job.model), {}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? ExpectMatchesMessage(report->report_json) : v1::Report();
}

TEST(Report, OfOptimizeIsItsMessage) {
  const Outcome outcome = Optimized();
  const v1::Report report = ExpectMatchesMessage(outcome.report_json);
  EXPECT_EQ(report.target(), "cpu-int8");
  EXPECT_EQ(report.numerics().samples(), 4);
  EXPECT_TRUE(report.passes(0).has_seconds());
  EXPECT_EQ(report.ledger(0).count(), 1);
  EXPECT_EQ(report.by_rule_size(), 0);
  const v1::ValueNumerics& output = report.numerics().outputs(0);
  EXPECT_EQ(output.name(), "y");
  EXPECT_EQ(output.steps_histogram_size(), 17);
  EXPECT_EQ(output.histogram().float__size(), 64);
  EXPECT_EQ(output.scale(), 0);  // it is not rounded to integers
  EXPECT_GT(report.numerics().values(0).scale(), 0);
}

TEST(Report, ADeterministicOneIsItsMessageWithoutSeconds) {
  const v1::Report report = ExpectMatchesMessage(Optimized({.deterministic = true}).report_json);
  ASSERT_GT(report.passes_size(), 0);
  EXPECT_FALSE(report.passes(0).has_seconds());
}

TEST(Report, ProtobufsOwnParserReadsIt) {
  const std::string report = Optimized().report_json;
  v1::Report message;
  const auto status = google::protobuf::util::JsonStringToMessage(report, &message, {});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(message, ExpectMatchesMessage(report)));
}

TEST(Report, OfDiffIsItsMessage) {
  const v1::Report report = DiffOf(InputOf(Optimized().model));
  EXPECT_FALSE(report.has_against());
  EXPECT_EQ(report.numerics().outputs(0).name(), "y");
}

TEST(Report, OfTwoModesIsItsMessage) {
  const v1::Report report = DiffOf(InputOf(Optimized().model), &numerics::kTflite);
  EXPECT_EQ(report.numerics_mode(), "onnx");
  EXPECT_EQ(report.against().numerics_mode(), "tflite");
  ASSERT_GT(report.against().values_size(), 0);
  const v1::ModeDifference& value = report.against().values(0);
  EXPECT_EQ(value.accumulated().steps_histogram_size(), 17);
  EXPECT_GT(value.local().elements(), 0);
}

TEST(Report, ByRuleIsItsMessage) {
  const v1::Report report = ByRuleOf(Granularity::kRule);
  ASSERT_GT(report.by_rule_size(), 0);
  for (const v1::RuleRun& run : report.by_rule()) {
    EXPECT_EQ(run.applications_size(), 0);
    EXPECT_EQ(run.outputs_size(), run.measured() ? 1 : 0);
  }
}

TEST(Report, ByApplicationIsItsMessage) {
  const v1::Report report = ByRuleOf(Granularity::kApplication);
  ASSERT_GT(report.by_rule_size(), 0);
  for (const v1::RuleRun& run : report.by_rule()) {
    EXPECT_EQ(run.applications_size(), run.count());
    EXPECT_EQ(run.applications(0).count(), 0) << "an application is one";
  }
}

// The convolution's result is quantized per channel and dequantized.
constexpr std::string_view kPerChannel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  %c.f = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %c.q = Quantize(%c.f) : tensor<1x4x8x8xi8, axis=1, scale=[0.05, 0.06, 0.07, 0.08], zp=[0, 1, 2, 3]>
  %c = Dequantize(%c.q) : tensor<1x4x8x8xf32>
  %r = Relu(%c) : tensor<1x4x8x8xf32>
  %y = MaxPool(%r) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
}
)";

TEST(Report, OfValuesPerChannelIsItsMessage) {
  const v1::Report report = DiffOf(InputOf({"q.graph", Blob(std::string(kPerChannel))}));
  int64_t per_channel = 0;
  for (const v1::ValueNumerics& value : report.numerics().values()) {
    if (value.scales_size() == 0) continue;
    ++per_channel;
    EXPECT_FALSE(value.has_scale());
    EXPECT_EQ(value.scales_size(), 4);
    EXPECT_EQ(value.zero_points(3), 3);
  }
  EXPECT_GT(per_channel, 0);
}

}  // namespace
}  // namespace octavo::job

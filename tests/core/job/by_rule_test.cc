// SPDX-License-Identifier: Apache-2.0
// diff --by-rule: runs the job again, one rule after another.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "core/job/execute.h"
#include "core/job/job.h"
#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

using nlohmann::json;

const NamedBlob kReal = {"tiny.graph", Blob(std::string(kTinyModel))};
const NamedBlob kSamples = {"random:7:4", Blob(std::string())};

Outcome Optimized(const Options& options) {
  Request request;
  request.options = options;
  request.options.emit = EmitForm::kNative;
  request.model = kReal;
  request.samples = {kSamples};
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : Outcome();
}

Result<RuleReport> Diffed(const Outcome& job, const ByRule& by_rule) {
  const ModelInput real = {.model = kReal, .samples = {kSamples}, .threads = 1};
  const ModelInput quantized = {.model = job.model, .samples = {kSamples}, .threads = 1};
  return AddByRule(job.report_json, by_rule, real, quantized, {}, {});
}

TEST(ByRule, MeasuresEachRuleFromQuantizationToTheModel) {
  const Outcome job = Optimized({});
  const auto measured = Diffed(job, {});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->violation, "");
  const json report = json::parse(measured->report_json);
  const json& runs = report["by_rule"];
  ASSERT_FALSE(runs.empty());
  int64_t count = 0;
  json before = runs[0]["outputs"][0]["sqnr_db_before"];
  EXPECT_FALSE(before.is_null());
  for (const json& run : runs) {
    count += run["count"].get<int64_t>();
    if (!run["measured"]) {
      EXPECT_TRUE(run["outputs"].empty());
      continue;
    }
    ASSERT_EQ(run["outputs"].size(), 1u);
    const json& y = run["outputs"][0];
    EXPECT_EQ(y["name"], "y");
    EXPECT_EQ(y["elements"], 4 * 4 * 4 * 4);
    if (run["effect"] == "exact") {
      EXPECT_EQ(y["changed"], 0);
    }
    EXPECT_EQ(y["sqnr_db_before"], before);  // each run starts from the previous one
    before = y["sqnr_db_after"];
  }
  // The last run ends with the figures that the job reported.
  EXPECT_NEAR(before.get<double>(), report["numerics"]["outputs"][0]["sqnr_db"].get<double>(),
              1e-6);
  int64_t recorded = 0;
  for (const json& entry : report["ledger"]) {
    const bool rewrite = entry["effect"] != "real-exact" && entry["pass"] != "quantize";
    recorded += rewrite && entry["pass"] != "canonicalize" ? 1 : 0;
  }
  EXPECT_EQ(count, recorded);
}

TEST(ByRule, NeedsTheOptionsOfTheJob) {
  const Outcome job = Optimized(
      {.schema = target::SchemeKind::kSymmetricUint8, .granularity = WeightScales::kPerTensor});
  const auto without = Diffed(job, {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::kInvalidArgument);
  EXPECT_EQ(without.error().reason, "REPLAY_MISMATCH");
  const auto with = Diffed(job, {.options_from = NamedBlob{"r.json", Blob(job.report_json)}});
  EXPECT_TRUE(with) << with.error().message;
}

// A quantized graph with Rescales that rules absorb: at Conv's result, around a MaxPool, at Relu's
// operand.
constexpr std::string_view kQuantized =
    R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y, %z) {
  const %w = random(1) : tensor<4x3x3x3xi8, scale=0.0078125, zp=0>
  const %b = splat(0) : tensor<4xi32, scale=0.000244140625, zp=0>
  %x.q = Quantize(%x) : tensor<1x3x8x8xi8, scale=0.03125, zp=-3>
  %c = Conv(%x.q, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xi8, scale=0.05, zp=0>
  %c.r = Rescale(%c) : tensor<1x4x8x8xi8, scale=0.04, zp=10>
  %p = MaxPool(%c.r) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xi8, scale=0.04, zp=10>
  %p.r = Rescale(%p) : tensor<1x4x4x4xi8, scale=0.05, zp=0>
  %r = Relu(%p.r) : tensor<1x4x4x4xi8, scale=0.05, zp=0>
  %a = Add(%r, %r) : tensor<1x4x4x4xi8, scale=0.09, zp=-20>
  %y = Dequantize(%a) : tensor<1x4x4x4xf32>
  %z = Dequantize(%r) : tensor<1x4x4x4xf32>
}
)";

struct Requantized {
  NamedBlob given = {"q.graph", Blob(std::string(kQuantized))};
  Outcome job = {};
  ModelInput baseline = {}, input = {};

  Requantized() {
    Request request;
    request.options = {.emit = EmitForm::kNative,
                       .numerics_limit = NumericsLimit::kFewerClamps,
                       .no_quantize = true};
    request.model = given;
    request.samples = {kSamples};
    auto outcome = Run(request, {}, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (outcome) job = *std::move(outcome);
    baseline = {.model = given, .samples = {kSamples}, .threads = 1};
    input = {.model = job.model, .samples = {kSamples}, .threads = 1};
  }
  json Rows(ByRule by_rule, const ModelInput& against) const {
    by_rule.options_from = NamedBlob{"r.json", Blob(job.report_json)};
    const auto measured = AddByRule(job.report_json, by_rule, against, input, {}, {});
    EXPECT_TRUE(measured) << measured.error().message;
    return measured ? json::parse(measured->report_json)["by_rule"] : json();
  }
};

TEST(ByRule, AJobWithoutQuantizationIsMeasuredAgainstItsOwnModel) {
  const Requantized jobs;
  const json rows = jobs.Rows({}, jobs.baseline);
  ASSERT_EQ(rows.size(), 2u) << rows;
  EXPECT_EQ(rows[0]["rules"], json({"absorb-rescales/fold-into-producer"}));
  EXPECT_EQ(rows[0]["effect"], "fewer-roundings");
  for (const json& output : rows[0]["outputs"]) {
    EXPECT_TRUE(output["sqnr_db_before"].is_null());  // the baseline is the model itself: no noise
    EXPECT_GT(output["sqnr_db_after"], 30);
    EXPECT_GT(output["changed"], 0);
    EXPECT_GE(output["max_steps"], 1);
    EXPECT_LE(output["max_steps"], 2);
    EXPECT_GT(output["max_abs"], 0);
  }
  EXPECT_EQ(rows[1]["effect"], "exact");
  EXPECT_EQ(rows[1]["outputs"][0]["changed"], 0);
}

TEST(ByRule, TheBaselineMayDifferFromTheModelGivenToTheJob) {
  const Requantized jobs;
  const std::string real = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y, %z) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  %c = Conv(%x, %w) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %z = MaxPool(%c) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
  %y = Add(%z, %z) : tensor<1x4x4x4xf32>
}
)";
  const ModelInput baseline = {.model = {"real.graph", Blob(real)}, .samples = {kSamples}};
  const json rows = jobs.Rows({.from = jobs.baseline}, baseline);
  ASSERT_EQ(rows.size(), 2u) << rows;
  EXPECT_FALSE(rows[0]["outputs"][0]["sqnr_db_before"].is_null());  // another model: noise
}

TEST(ByRule, EachApplicationCanBeMeasuredByItself) {
  const Outcome job = Optimized({.output_type = OutputType::kInteger,
                                 .passes = {"quantize", "fuse-activations", "remove-noops",
                                            "specialize-bias", "merge-constants"}});
  const auto options = NamedBlob{"r.json", Blob(job.report_json)};
  const auto measured =
      Diffed(job, {.options_from = options, .granularity = Granularity::kApplication});
  ASSERT_TRUE(measured) << measured.error().message;
  const json report = json::parse(measured->report_json);
  std::vector<json> entries;
  for (const json& run : report["by_rule"]) {
    if (!run["measured"]) continue;
    EXPECT_EQ(run["count"], 1) << run;
    EXPECT_EQ(run["outputs"].size(), 1u);
    for (const json& application : run["applications"]) entries.push_back(application);
  }
  ASSERT_FALSE(entries.empty());
  // They are the job's ledger, in the same order.
  size_t next = 0;
  for (const json& entry : report["ledger"]) {
    if (next < entries.size() && entry["node"] == entries[next]["node"] &&
        entry["rule"] == entries[next]["rule"]) {
      ++next;
    }
  }
  EXPECT_EQ(next, entries.size());
}

TEST(ByRule, AJobWithATargetFileNeedsTheFile) {
  const NamedBlob file = {"mine.json",
                          Blob(std::string(R"({"name": "mine", "activations": ["i8"]})"))};
  Request request;
  request.options.emit = EmitForm::kNative;
  request.model = kReal;
  request.samples = {kSamples};
  request.target = file;
  const auto job = job::Run(request, {}, {});
  ASSERT_TRUE(job) << job.error().message;
  const NamedBlob report = {"r.json", Blob(job->report_json)};
  const auto without = Diffed(*job, {.options_from = report});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::kUsage);
  EXPECT_EQ(without.error().field, "target");
  const auto with = Diffed(*job, {.options_from = report, .target = file});
  EXPECT_TRUE(with) << with.error().message;
}

TEST(ByRule, TheOptionsOfAReportAreThoseOfItsJob) {
  Options options;
  options.own_parameters = true;
  options.calibration = {profile::Calibration::Method::kPercentile, 99.5};
  options.keep_float = {"MaxPool"};
  const auto read = OptionsOfReport(Optimized(options).report_json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->own_parameters);
  EXPECT_EQ(read->calibration, options.calibration);
  EXPECT_EQ(read->keep_float, options.keep_float);
  EXPECT_EQ(read->numerics, &numerics::kOnnx);  // the target's default is filled in
}

TEST(ByRule, ATextThatIsNoReportIsRefused) {
  EXPECT_EQ(OptionsOfReport("{}").error().code, Code::kInvalidArgument);
  EXPECT_EQ(OptionsOfReport("no json").error().field, "options_from");
  const auto wrong = OptionsOfReport(R"({"options": {"schema": "affine"}})");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("--schema 'affine' must be one of"), std::string::npos)
      << wrong.error().message;
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// The job as a function of its request, on a graph of a few nodes.
#include "core/job/job.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

using nlohmann::json;

Request Tiny() {
  Request request;
  request.model = {"tiny.graph", Blob(std::string(kTinyModel))};
  request.samples = {{"random:7:4", Blob(std::string())}};
  request.options.emit = EmitForm::kText;
  request.options.deterministic = true;
  request.options.threads = 1;
  return request;
}

// The same request with a handwritten profile and without samples.
Request WithProfile(const std::string& values) {
  Request request = Tiny();
  request.samples.clear();
  request.profile =
      NamedBlob{"p.json", Blob(R"({"octavo_profile": 1, "values": [)" + values + "]}")};
  return request;
}
const std::string kRanges =
    R"({"name": "x", "min": -1, "max": 1}, {"name": "c", "min": -4, "max": 4},
       {"name": "r", "min": 0, "max": 4}, {"name": "y", "min": 0, "max": 4})";

Result<Outcome> RunJob(const Request& request) { return Run(request, {}, {}); }

json ReportOf(const Request& request) {
  const auto outcome = RunJob(request);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  return json::parse(outcome->report_json);
}

std::string TextOf(const Request& request) {
  const auto outcome = RunJob(request);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  return std::string(outcome->model.bytes.text());
}

std::vector<std::string> PassesOf(const Request& request) {
  std::vector<std::string> names;
  const json report = ReportOf(request);
  for (const json& pass : report["passes"]) names.push_back(pass["name"]);
  return names;
}

TEST(Job, GivesEqualBytesForAnyThreadsAndAgain) {
  const auto first = RunJob(Tiny());
  ASSERT_TRUE(first) << first.error().message;
  for (const int threads : {1, 2, 3}) {
    Request request = Tiny();
    request.options.threads = threads;
    const auto again = RunJob(request);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->model.bytes.text(), first->model.bytes.text()) << threads;
    EXPECT_EQ(again->report_json, first->report_json) << threads;
  }
}

TEST(Job, ReportHasEveryKeyOfTheInterface) {
  const json report = ReportOf(Tiny());
  for (const char* key : {"/octavo_version",
                          "/action_digest",
                          "/numerics_mode",
                          "/target",
                          "/options",
                          "/command",
                          "/inputs/0/role",
                          "/inputs/0/name",
                          "/inputs/0/bytes",
                          "/inputs/0/sha256",
                          "/outputs/0/sha256",
                          "/model/nodes_before",
                          "/model/nodes_after",
                          "/model/ops_before",
                          "/model/ops_after",
                          "/model/bytes_before",
                          "/model/bytes_after",
                          "/profile/matched",
                          "/profile/unmatched_entries",
                          "/profile/missing_values",
                          "/profile/from_payload",
                          "/rescales/before",
                          "/rescales/after",
                          "/rescales/greedy_after",
                          "/rescales/elements_before",
                          "/rescales/elements_after",
                          "/rescales/greedy_elements_after",
                          "/rescales/kept",
                          "/passes/0/name",
                          "/passes/0/changed",
                          "/passes/0/nodes_after",
                          "/ledger/0/pass",
                          "/ledger/0/rule",
                          "/ledger/0/effect",
                          "/ledger/0/node",
                          "/ledger/0/values",
                          "/ledger/0/count",
                          "/float_nodes",
                          "/numerics/reference",
                          "/numerics/samples",
                          "/numerics/samples_source",
                          "/numerics/values",
                          "/warnings"}) {
    EXPECT_TRUE(report.contains(json::json_pointer(key))) << key;
  }
  const json& value = report["numerics"]["outputs"][0];
  for (const char* key :
       {"/name", "/sqnr_db", "/cosine", "/max_abs", "/mean_abs", "/max_steps", "/steps_histogram",
        "/saturated_ratio", "/local_sqnr_db", "/worst_channel", "/top1_agreement", "/dtype",
        "/scale", "/zero_point", "/histogram/low", "/histogram/high", "/histogram/float/63",
        "/histogram/integer/63", "/steps_histogram/16"}) {
    EXPECT_TRUE(value.contains(json::json_pointer(key))) << key;
  }
}

TEST(Job, OptionsThatChangeBytesReachTheReport) {
  Request request = Tiny();
  Options& options = request.options;
  options.schema = target::SchemeKind::kSymmetric;
  options.activations = ir::DType::kI8;
  options.granularity = WeightScales::kPerTensor;
  options.calibration = {profile::Calibration::Method::kMse};
  options.keep_float = {"MaxPool"};
  options.numerics_limit = NumericsLimit::kExact;
  options.skip = {"lower"};
  options.fold_budget = 12345;
  options.external_over = 54321;
  options.require_sqnr = 1;
  options.allow_random = true;
  options.integer_io = true;
  const json told = ReportOf(request)["options"];
  EXPECT_EQ(told["schema"], "symmetric");
  EXPECT_EQ(told["activations"], "i8");
  EXPECT_EQ(told["granularity"], "per-tensor");
  EXPECT_EQ(told["calibration"], "mse");
  EXPECT_EQ(told["keep_float"], json({"MaxPool"}));
  EXPECT_EQ(told["numerics_limit"], "exact");
  EXPECT_EQ(told["skip"], json({"lower"}));
  EXPECT_EQ(told["fold_budget"], 12345);
  EXPECT_EQ(told["external_over"], 54321);
  EXPECT_EQ(told["require_sqnr"], 1);
  EXPECT_EQ(told["integer_io"], true);
  EXPECT_FALSE(told.contains("threads"));
}

TEST(Job, SecondsAreLeftOutWhereItIsDeterministic) {
  Request request = Tiny();
  EXPECT_FALSE(ReportOf(request)["passes"][0].contains("seconds"));
  request.options.deterministic = false;
  EXPECT_TRUE(ReportOf(request)["passes"][0]["seconds"].is_number());
}

TEST(Job, GateThatFailsStillWritesEverything) {
  Request request = Tiny();
  request.options.require_sqnr = 1000;
  request.options.allow_random = true;
  const auto outcome = RunJob(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->gate_failed);
  EXPECT_FALSE(outcome->message.empty());
  EXPECT_GT(outcome->model.bytes.size(), 0u);
}

TEST(Job, GateThatHoldsSaysNothing) {
  Request request = Tiny();
  request.options.require_cosine = 0.9;
  request.options.allow_random = true;
  const auto outcome = RunJob(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->gate_failed);
}

TEST(Job, StoppedBeforeItBeginsIsCancelled) {
  const StopToken stop;
  stop.RequestStop();
  const auto outcome = job::Run(Tiny(), stop, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
}

TEST(Job, StopBeforeLeavesWeightsPending) {
  Request request = Tiny();
  request.options.rounding = Rounding::kNearest;
  request.options.stop_before = "merge-constants";
  const std::vector<std::string> passes = PassesOf(request);
  ASSERT_FALSE(passes.empty());
  EXPECT_EQ(passes.back(), "specialize-bias");
  EXPECT_NE(TextOf(request).find("%w = Quantize(%w.float)"), std::string::npos);
}

TEST(Job, SkippedPassesDoNotRun) {
  Request request = Tiny();
  request.options.output_type = OutputType::kInteger;
  EXPECT_EQ(TextOf(request).find("Relu"), std::string::npos);
  request.options.skip = {"fuse-activations"};
  for (const std::string& name : PassesOf(request)) EXPECT_NE(name, "fuse-activations");
  EXPECT_NE(TextOf(request).find("Relu"), std::string::npos);
}

TEST(Job, ProfileAloneIsReportedOnSyntheticSamples) {
  const json report = ReportOf(WithProfile(kRanges));
  EXPECT_EQ(report["numerics"]["samples_source"], "synthetic");
  EXPECT_EQ(report["numerics"]["samples"], 8);
  EXPECT_FALSE(report["warnings"].empty());
}

TEST(Job, ValueWithoutARangeIsMissingAndItsNodeFloat) {
  const json report = ReportOf(WithProfile(R"({"name": "x", "min": -1, "max": 1},
       {"name": "r", "min": 0, "max": 4}, {"name": "y", "min": 0, "max": 4})"));
  EXPECT_EQ(report["profile"]["missing_values"], json({"c"}));
  ASSERT_FALSE(report["float_nodes"].empty());
  EXPECT_EQ(report["float_nodes"][0]["node"], "c");
  EXPECT_EQ(report["float_nodes"][0]["reason"], "the profile has no range for 'c'");
}

TEST(Job, StrictProfileRefusesNamesThatTheModelNeverHad) {
  const std::string stranger = kRanges + R"(, {"name": "stranger", "min": 0, "max": 1})";
  EXPECT_EQ(ReportOf(WithProfile(stranger))["profile"]["unmatched_entries"], json({"stranger"}));
  Request request = WithProfile(stranger);
  request.options.strict_profile = true;
  const auto outcome = RunJob(request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// What is printed about a finished job.
#include "client/cli/summary.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/exit_code.h"

namespace octavo::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Report() {
  return {
      {"model",
       {{"bytes_before", 26624}, {"bytes_after", 900}, {"nodes_before", 9}, {"nodes_after", 7}}},
      {"rescales", {{"after", 1}}},
      {"float_nodes", {{{"op", "Exp"}}, {{"op", "Softmax"}}, {{"op", "Softmax"}}}},
      {"numerics",
       {{"samples", 20},
        {"samples_source", "data"},
        {"outputs",
         {{{"name", "y"}, {"sqnr_db", 30.456}, {"top1_agreement", 0.95}, {"classes", 10}}}}}},
      {"passes", {{{"name", "lower"}, {"seconds", 0.5}, {"changed", true}, {"nodes_after", 7}}}},
      {"warnings", {{{"code", "few_samples"}, {"message", "only 4"}, {"node", ""}}}}};
}

class Tell : public testing::Test {
 protected:
  int Run(const json& report, const std::vector<std::string>& fail_on = {}) {
    out_.str("");
    err_.str("");
    const job::Outcome outcome{.report_json = report.dump(), .gate_failed = gate_failed_};
    const auto parsed = ParseFailOnWarning(fail_on);
    EXPECT_TRUE(parsed);
    const FinishedJob finished{.model = "m.onnx",
                               .source = "executed",
                               .seconds = 1.234,
                               .stages = {{"import", 0.25}},
                               .files = {.model = {"o.onnx", "o.onnx.data"}, .report = "r.json"}};
    const auto code = TellResult(invocation_, outcome, finished, *parsed);
    EXPECT_TRUE(code);
    return code ? *code : -1;
  }

  std::ostringstream out_, err_;
  Host host_{.out = out_, .err = err_};
  Invocation invocation_{.host = host_};
  bool gate_failed_ = false;
};

TEST_F(Tell, TheSummaryAndEveryWarningAreOnStderr) {
  EXPECT_EQ(Run(Report()), 0);
  EXPECT_EQ(err_.str(),
            "octavo: m.onnx -> o.onnx: 26.0 KiB -> 900 B, 9 -> 7 nodes, 3 nodes in float "
            "(2 Softmax, 1 Exp), 1 Rescale\n"
            "octavo: worst output 'y': SQNR 30.46 dB, top-1 agreement 95.00 % on 20 samples\n"
            "octavo: 1.23 s; also wrote o.onnx.data, r.json\n"
            "octavo: warning: only 4 [few_samples]\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(Tell, WhatASearchChoseIsSaid) {
  json report = Report();
  report["search"] = {{{"calibration", "minmax"},
                       {"rounding", "nearest"},
                       {"score_db", 39.5},
                       {"chosen", false},
                       {"equalize", false}},
                      {{"calibration", "mse"},
                       {"rounding", "descent"},
                       {"score_db", 41.23},
                       {"chosen", true},
                       {"equalize", true}}};
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("octavo: search: mse with descent, equalized, 41.2 dB on "
                                    "held-back calibration samples\n"));
  invocation_.json = true;
  EXPECT_EQ(Run(report), 0);
  EXPECT_EQ(json::parse(out_.str())["search"], report["search"][1]);
  EXPECT_EQ(Run(Report()), 0);
  EXPECT_TRUE(json::parse(out_.str())["search"].is_null());
}

TEST_F(Tell, UndefinedExactAndRandomFiguresSaySo) {
  json report = Report();
  json& output = report["numerics"]["outputs"][0];
  output["sqnr_db"] = nullptr;
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("SQNR undefined"));
  output["exact"] = true;
  report["numerics"]["samples_source"] = "random";
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("every output equals the float model's on 20 random samples"));
  report["numerics"]["outputs"] = json::array();
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("octavo: no figures\n"));
}

TEST_F(Tell, FiguresOfBothKindsOfSamplesAreSideBySide) {
  json report = Report();
  json& numerics = report["numerics"];
  numerics["samples"] = 4;
  numerics["samples_role"] = "held-out";
  numerics["calibration_samples"] = 12;
  numerics["outputs"][0]["calibration_sqnr_db"] = 40.4;
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("SQNR 30.46 dB, top-1 agreement 95.00 % on 4 held-out samples "
                                    "(40.40 dB on calibration samples)\n"));
  numerics["samples_source"] = "random";
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("on 4 held-out random samples ("));
  numerics["samples_source"] = numerics["samples_role"] = "synthetic";
  EXPECT_EQ(Run(report), 0);
  EXPECT_THAT(err_.str(), HasSubstr("on 4 synthetic samples ("));
}

TEST_F(Tell, VerboseAddsPassesAndStageTimes) {
  invocation_.verbose = true;
  EXPECT_EQ(Run(Report()), 0);
  EXPECT_THAT(err_.str(), HasSubstr("octavo: stage import: 0.250 s\n"
                                    "octavo: pass lower: changed, 7 nodes, 0.5000 s\n"));
}

TEST_F(Tell, QuietLeavesErrorsOnly) {
  invocation_.quiet = true;
  EXPECT_EQ(Run(Report()), 0);
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(Run(Report(), {"all"}), kExitGateFailed);
  EXPECT_EQ(err_.str(), "octavo: error: gate failed: warning few_samples: only 4\n");
}

TEST_F(Tell, JsonIsTheSameObjectOnStdout) {
  invocation_.json = true;
  EXPECT_EQ(Run(Report(), {"few_samples"}), kExitGateFailed);
  EXPECT_EQ(err_.str(), "");
  const json object = json::parse(out_.str());
  EXPECT_EQ(object["model"], "m.onnx");
  EXPECT_EQ(object["output"], "o.onnx");
  EXPECT_EQ(object["files"], json({"o.onnx", "o.onnx.data"}));
  EXPECT_EQ(object["report"], "r.json");
  EXPECT_TRUE(object["html"].is_null());
  EXPECT_EQ(object["source"], "executed");
  EXPECT_EQ(object["seconds"], 1.234);
  EXPECT_EQ(object["float_ops"], json({{"Exp", 1}, {"Softmax", 2}}));
  EXPECT_EQ(object["worst_output"]["sqnr_db"], 30.456);
  EXPECT_TRUE(object["worst_output"]["calibration_sqnr_db"].is_null());
  EXPECT_EQ(object["warnings"][0]["code"], "few_samples");
  EXPECT_EQ(object["gate_failed"], true);
  EXPECT_EQ(object["message"], "warning few_samples: only 4");
  EXPECT_EQ(object["passes"], json::array());
}

TEST_F(Tell, FailOnWarningIsForItsWarningsOnly) {
  EXPECT_EQ(Run(Report(), {"random_samples"}), 0);
  EXPECT_EQ(Run(Report(), {"random_samples", "few_samples"}), kExitGateFailed);
  json report = Report();
  report["warnings"] = json::array();
  EXPECT_EQ(Run(report, {"all"}), 0);
}

TEST(FailOnWarning, AnUnknownCodeIsAUsageErrorWithTheList) {
  const auto parsed = ParseFailOnWarning({"few_sample"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::kUsage);
  EXPECT_EQ(parsed.error().field, "--fail-on-warning");
  EXPECT_THAT(parsed.error().message, HasSubstr("'few_sample' must be all or one of "));
  EXPECT_THAT(parsed.error().message, HasSubstr("few_samples, "));
}

TEST(StageClock, AddsUpAStageThatComesAgain) {
  StageClock clock;
  for (const char* stage : {"queue", "import", "import", "queue"}) clock.Show(stage);
  const auto seconds = clock.Seconds();
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_EQ(seconds[0].first, "queue");
  EXPECT_EQ(seconds[1].first, "import");
}

}  // namespace
}  // namespace octavo::cli

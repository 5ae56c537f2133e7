// SPDX-License-Identifier: Apache-2.0
// The summary of a job holds what its report says.
#include "core/job/summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace octavo::job {
namespace {

using nlohmann::json;

json Output(const std::string& name, const json& sqnr, bool exact = false) {
  return {{"name", name}, {"sqnr_db", sqnr}, {"exact", exact}, {"top1_agreement", 0.5}};
}

v1::Summary Of(const json& report) {
  const auto summary = SummaryOf(report.dump());
  EXPECT_TRUE(summary) << summary.error().message;
  return summary ? *summary : v1::Summary();
}

std::string WorstOf(const json& outputs) {
  return Of({{"numerics", {{"outputs", outputs}}}}).worst_output().name();
}

TEST(Summary, HoldsTheFiguresOfTheReport) {
  json output = Output("y", 30.5);
  output["classes"] = 10;
  output["calibration_sqnr_db"] = 40.5;
  const v1::Summary summary = Of(
      {{"action_digest", "sha256:a"},
       {"target", "cpu-int8"},
       {"numerics_mode", "onnx"},
       {"model",
        {{"bytes_before", 4000}, {"bytes_after", 1000}, {"nodes_before", 9}, {"nodes_after", 7}}},
       {"rescales", {{"before", 3}, {"after", 2}}},
       {"float_nodes", {{{"op", "Softmax"}}, {{"op", "Exp"}}, {{"op", "Softmax"}}}},
       {"numerics",
        {{"samples", 20},
         {"samples_source", "data"},
         {"samples_role", "held-out"},
         {"calibration_samples", 60},
         {"outputs", {output}}}},
       {"passes", {{{"name", "lower"}, {"seconds", 0.5}}}},
       {"warnings", {{{"code", "few_samples"}, {"message", "m"}, {"node", "n"}}}}});
  EXPECT_EQ(summary.action_digest(), "sha256:a");
  EXPECT_EQ(summary.target(), "cpu-int8");
  EXPECT_EQ(summary.numerics_mode(), "onnx");
  EXPECT_EQ(summary.bytes_before(), 4000);
  EXPECT_EQ(summary.bytes_after(), 1000);
  EXPECT_EQ(summary.nodes_before(), 9);
  EXPECT_EQ(summary.nodes_after(), 7);
  EXPECT_EQ(summary.rescales(), 2);
  EXPECT_EQ(summary.float_ops().at("Softmax"), 2);
  EXPECT_EQ(summary.float_ops().at("Exp"), 1);
  EXPECT_EQ(summary.samples(), 20);
  EXPECT_EQ(summary.samples_source(), "data");
  EXPECT_EQ(summary.samples_role(), "held-out");
  EXPECT_EQ(summary.calibration_samples(), 60);
  EXPECT_EQ(summary.worst_output().sqnr_db(), 30.5);
  EXPECT_EQ(summary.worst_output().calibration_sqnr_db(), 40.5);
  EXPECT_EQ(summary.worst_output().top1_agreement(), 0.5);
  ASSERT_EQ(summary.passes_size(), 1);
  ASSERT_EQ(summary.warnings_size(), 1);
  EXPECT_EQ(summary.warnings(0).code(), "few_samples");
}

TEST(Summary, TheWorstOutputIsTheOneThatAGateWouldFailFirst) {
  EXPECT_EQ(WorstOf({Output("a", 30), Output("b", 20), Output("c", 25)}), "b");
  EXPECT_EQ(WorstOf({Output("a", 30), Output("b", nullptr)}), "b") << "its SQNR is undefined";
  EXPECT_EQ(WorstOf({Output("a", nullptr, true), Output("b", 60)}), "b") << "a is exact";
  EXPECT_EQ(WorstOf({Output("a", nullptr, true), Output("b", nullptr, true)}), "a");
  EXPECT_FALSE(Of(json::object()).has_worst_output());
}

TEST(Summary, HasTop1OnlyOfAClassifier) {
  const v1::Summary image = Of({{"numerics", {{"outputs", {Output("y", 30)}}}}});
  EXPECT_FALSE(image.worst_output().has_top1_agreement());
}

TEST(Summary, IsNotMadeOfWhatIsNoReport) { EXPECT_FALSE(SummaryOf("samples")); }

}  // namespace
}  // namespace octavo::job

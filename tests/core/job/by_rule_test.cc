// diff --by-rule: the job run again, one law after another.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/job.h"
#include "core/job/replay.h"

namespace octavo::job {
namespace {

using nlohmann::json;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %r = Relu(%c) : tensor<1x4x8x8xf32>
  %y = MaxPool(%r) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
}
)";

const NamedBlob kReal = {"tiny.graph", Blob(std::string(kModel))};
const NamedBlob kSamples = {"random:7:4", Blob(std::string())};

Outcome Optimized(const Options& options) {
  Request request;
  request.options = options;
  request.options.emit = "native";
  request.model = kReal;
  request.samples = {kSamples};
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : Outcome();
}

Result<std::string> Diffed(const Outcome& job, const ByRule& by_rule) {
  const ModelInput real = {.model = kReal, .samples = {kSamples}, .threads = 1};
  const ModelInput quantized = {.model = job.model, .samples = {kSamples}, .threads = 1};
  return AddByRule(job.report_json, by_rule, real, quantized, {}, {});
}

TEST(ByRule, MeasuresEachLawFromQuantizationToTheModel) {
  const Outcome job = Optimized({});
  const auto text = Diffed(job, {});
  ASSERT_TRUE(text) << text.error().message;
  const json report = json::parse(*text);
  const json& runs = report["by_rule"];
  ASSERT_FALSE(runs.empty());
  int64_t count = 0;
  json before = runs[0]["outputs"][0]["sqnr_db_before"];
  EXPECT_FALSE(before.is_null());
  for (const json& run : runs) {
    ASSERT_EQ(run["outputs"].size(), 1u);
    const json& y = run["outputs"][0];
    EXPECT_EQ(y["name"], "y");
    EXPECT_EQ(y["elements"], 4 * 4 * 4 * 4);
    if (run["effect"] == "exact") {
      EXPECT_EQ(y["changed"], 0);
    }
    EXPECT_EQ(y["sqnr_db_before"], before);  // each begins where the last one ended
    before = y["sqnr_db_after"];
    count += run["count"].get<int64_t>();
  }
  // Where the last run ends is what the job reported.
  EXPECT_NEAR(runs.back()["outputs"][0]["sqnr_db_after"].get<double>(),
              report["numerics"]["outputs"][0]["sqnr_db"].get<double>(), 1e-6);
  int64_t recorded = 0;
  for (const json& entry : report["ledger"]) {
    const bool rewrite = entry["effect"] != "real-exact" && entry["rule"] != "quantized";
    recorded += rewrite && entry["pass"] != "canonicalize" ? 1 : 0;
  }
  EXPECT_EQ(count, recorded);
}

TEST(ByRule, NeedsTheOptionsOfTheJob) {
  const Outcome job = Optimized({.schema = "symmetric-uint8", .granularity = "per-tensor"});
  const auto without = Diffed(job, {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::kInvalidArgument);
  EXPECT_EQ(without.error().reason, "REPLAY_MISMATCH");
  const auto with = Diffed(job, {.options_from = NamedBlob{"r.json", Blob(job.report_json)}});
  EXPECT_TRUE(with) << with.error().message;
}

TEST(ByRule, ATextThatIsNoReportIsRefused) {
  EXPECT_EQ(OptionsOfReport("{}").error().code, Code::kInvalidArgument);
  EXPECT_EQ(OptionsOfReport("no json").error().field, "options_from");
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// 16-bit integers for some values: by name (--int16) and by figures (--accuracy-budget).
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// %wide needs more than 8 bits: small differences between its large values matter.
constexpr std::string_view kModel =
    R"(graph(%x: tensor<4x16xf32, range=[-1, 1]>) -> (%y) {
  const %u = random(1) : tensor<16x16xf32>
  const %v = random(2) : tensor<16x16xf32>
  const %w = random(3) : tensor<16x4xf32>
  const %t = random(4) : tensor<4x4xf32>
  %a = MatMul(%x, %u) : tensor<4x16xf32>
  %b = Relu(%a) : tensor<4x16xf32>
  %c = MatMul(%b, %v) : tensor<4x16xf32>
  %d = Tanh(%c) : tensor<4x16xf32>
  %e = MatMul(%d, %w) : tensor<4x4xf32>
  %y = MatMul(%e, %t) : tensor<4x4xf32>
}
)";

Request JobOn(std::vector<std::string> int16, double budget) {
  Request request;
  request.model = {"net.graph", Blob(std::string(kModel))};
  request.samples = {{"random:7:16", Blob(std::string())}};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  request.options.int16 = std::move(int16);
  request.options.accuracy_budget = budget;
  return request;
}

struct Done {
  std::string model = {};
  json report = {};
  double sqnr() const { return report["numerics"]["outputs"][0]["sqnr_db"]; }
  const json& budget() const { return report["accuracy_budget"]; }
};

Done RunJob(const Request& request) {
  const auto outcome = job::Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  return {std::string(outcome->model.bytes.text()), json::parse(outcome->report_json)};
}

int CountWide(const json& report) {
  int count = 0;
  for (const json& entry : report["ledger"]) count += entry["rule"] == "quantize/int16" ? 1 : 0;
  return count;
}

TEST(Int16, ANamedValueHas16Bits) {
  const Done none = RunJob(JobOn({}, 0)), some = RunJob(JobOn({"c"}, 0));
  EXPECT_EQ(CountWide(none.report), 0);
  EXPECT_EQ(CountWide(some.report), 1);
  EXPECT_THAT(some.model, HasSubstr("i16"));
  EXPECT_THAT(none.model, testing::Not(HasSubstr("i16")));
  EXPECT_TRUE(none.budget().is_null());
}

TEST(Int16, AllValuesAreAsExactAsActivationsOf16Bits) {
  Request all = JobOn({}, 0);
  all.options.activations = ir::DType::kI16;
  const Done by_type = RunJob(all);
  const Done by_name = RunJob(JobOn({"x", "a", "b", "c", "d", "e"}, 0));
  EXPECT_NEAR(by_type.sqnr(), by_name.sqnr(), 1.5);
}

TEST(Int16, ANameWithoutEffectWarns) {
  const Done done = RunJob(JobOn({"Softmax", "nothing"}, 0));
  std::map<std::string, std::string> messages;
  for (const json& each : done.report["warnings"]) messages[each["code"]] = each["message"];
  EXPECT_THAT(messages["no_effect"], HasSubstr("--int16 'Softmax' has no effect"));
  EXPECT_THAT(messages["unknown_name"], HasSubstr("--int16 'nothing'"));
}

TEST(Int16, ATargetWithout16BitsRefusesIt) {
  Request named = JobOn({"c"}, 0);
  named.options.target = "tflite";
  const auto first = job::Run(named, {}, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Code::kUsage);
  EXPECT_THAT(first.error().message, HasSubstr("--int16 'c'"));
  Request budget = JobOn({}, 30);
  budget.options.target = "tflite";
  const auto second = job::Run(budget, {}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().field, "accuracy_budget");
}

TEST(AccuracyBudget, NothingIsWideWhere8BitsAreEnough) {
  const Done done = RunJob(JobOn({}, 10));
  EXPECT_TRUE(done.budget()["reached"]);
  EXPECT_TRUE(done.budget()["groups"].empty());
  EXPECT_EQ(done.budget()["trials"], 1);
  EXPECT_EQ(CountWide(done.report), 0);
}

TEST(AccuracyBudget, AsFewValuesAsItTakesAreWide) {
  const double plain = RunJob(JobOn({}, 0)).sqnr();
  const double goal = plain + 2;
  const Done done = RunJob(JobOn({}, goal));
  EXPECT_NEAR(done.budget()["sqnr_db_before"].get<double>(), plain, 1e-9);
  ASSERT_TRUE(done.budget()["reached"].get<bool>()) << done.budget().dump();
  EXPECT_GE(done.sqnr(), goal);
  EXPECT_EQ(done.sqnr(), done.budget()["sqnr_db"].get<double>());
  EXPECT_LE(done.budget()["element_share"].get<double>(), 0.5);
  ASSERT_FALSE(done.budget()["groups"].empty());
  double last = std::numeric_limits<double>::infinity();
  std::vector<std::string> names;
  for (const json& group : done.budget()["groups"]) {
    const double error = group["error"].get<double>() / group["elements"].get<double>();
    EXPECT_LE(error, last);
    last = error;
    for (const json& name : group["values"]) names.push_back(name);
  }
  // The report's names are those of --int16.
  const Done again = RunJob(JobOn(names, 0));
  EXPECT_EQ(again.sqnr(), done.sqnr());
  EXPECT_EQ(RunJob(JobOn({}, goal)).model, done.model);
}

TEST(AccuracyBudget, IsMissedWithAWarningAndNeverBelow8Bits) {
  const double plain = RunJob(JobOn({}, 0)).sqnr();
  const Done done = RunJob(JobOn({}, 140));
  EXPECT_FALSE(done.budget()["reached"]);
  EXPECT_GE(done.sqnr(), plain);
  bool warned = false;
  for (const json& each : done.report["warnings"]) warned |= each["code"] == "budget_missed";
  EXPECT_TRUE(warned);
}

TEST(AccuracyBudget, NeedsSamples) {
  Request request = JobOn({}, 30);
  request.samples.clear();
  request.profile = {"p.json", Blob(std::string(R"({"octavo_profile": 1, "samples": 100, "values": [
    {"name": "x", "min": -1, "max": 1}]})"))};
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUsage);
  EXPECT_EQ(outcome.error().field, "accuracy_budget");
}

}  // namespace
}  // namespace octavo::job

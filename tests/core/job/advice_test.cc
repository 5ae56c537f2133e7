// SPDX-License-Identifier: Apache-2.0
// What causes the error of the outputs, and which options are worth it (--advise).
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// %c is all the error that 8 bits of one group can cause: its range is wide and the Tanh behind it
// tells small differences apart.
constexpr std::string_view kModel =
    R"(graph(%x: tensor<4x16xf32, range=[-1, 1]>) -> (%y) {
  const %u = random(1) : tensor<16x16xf32>
  const %v = random(2) : tensor<16x16xf32>
  const %w = random(3) : tensor<16x4xf32>
  %a = MatMul(%x, %u) : tensor<4x16xf32>
  %b = Relu(%a) : tensor<4x16xf32>
  %c = MatMul(%b, %v) : tensor<4x16xf32>
  %d = Tanh(%c) : tensor<4x16xf32>
  %f = Transpose(%d) {perm=[0, 1]} : tensor<4x16xf32>
  %e = MatMul(%f, %w) : tensor<4x4xf32>
  %y = Softmax(%e) {axis=1} : tensor<4x4xf32>
}
)";

Request JobOn(bool advise) {
  Request request;
  request.model = {"net.graph", Blob(std::string(kModel))};
  request.samples = {{"random:7:16", Blob(std::string())}};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  request.options.deterministic = true;
  request.options.output_name = "out.graph";
  request.options.advise = advise;
  return request;
}

struct Done {
  std::string model = {}, text = {};
  json report = {};
  double sqnr() const { return report["numerics"]["outputs"][0]["sqnr_db"]; }
  const json& shares() const { return report["numerics"]["error_shares"]; }
};

Done RunJob(const Request& request) {
  const auto outcome = job::Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  return {std::string(outcome->model.bytes.text()), outcome->report_json,
          json::parse(outcome->report_json)};
}

TEST(ErrorShares, AreOfTheWholeErrorAndOnlyWithAdvise) {
  const Done plain = RunJob(JobOn(false)), advised = RunJob(JobOn(true));
  EXPECT_TRUE(plain.shares().is_null());
  EXPECT_TRUE(plain.report["advice"].empty());
  for (const json& value : plain.report["numerics"]["values"]) {
    EXPECT_TRUE(value["error_share"].is_null());
  }
  const double weights = advised.shares()["weights"];
  const double rest =
      advised.shares()["activations"].get<double>() + advised.shares()["outputs"].get<double>();
  EXPECT_NEAR(weights + rest, 1, 1e-9);
  EXPECT_GT(weights, 0);
  std::map<int64_t, double> by_group;
  for (const json& value : advised.report["numerics"]["values"]) {
    if (value["group"].is_null()) continue;
    const auto at = by_group.emplace(value["group"], value["error_share"]).first;
    EXPECT_EQ(at->second, value["error_share"]) << "one share for a group";
  }
  double sum = 0, of_layers = 0;
  for (const auto& [group, share] : by_group) sum += share;
  EXPECT_NEAR(sum, rest, 1e-9);
  for (const json& layer : advised.report["weights"]) {
    of_layers += layer["error_share"].get<double>();
  }
  EXPECT_NEAR(of_layers, weights, 1e-9);
}

TEST(ErrorShares, EachValueHasTheNodeThatComputesItAndItsGroup) {
  const Done done = RunJob(JobOn(false));
  std::map<std::string, json> values;
  for (const json& value : done.report["numerics"]["values"]) values[value["name"]] = value;
  EXPECT_EQ(values["x"]["node"], "");
  EXPECT_EQ(values["x"]["op"], "");
  EXPECT_EQ(values["b"]["op"], "MatMul");  // the Relu is a part of it
  EXPECT_EQ(values["b"]["node"], "a");
  EXPECT_EQ(values["x"]["group"], 0);
  EXPECT_EQ(values["b"]["group"], 1);
  EXPECT_NE(values["c"]["group"], values["d"]["group"]);
}

TEST(Advice, ItsCommandsGiveTheirGains) {
  const Done plain = RunJob(JobOn(false)), advised = RunJob(JobOn(true));
  EXPECT_EQ(advised.model, plain.model);  // advice changes nothing
  const json& advice = advised.report["advice"];
  ASSERT_GE(advice.size(), 2u);
  ASSERT_LE(advice.size(), 8u);
  double last = std::numeric_limits<double>::infinity();
  for (const json& each : advice) {
    const double gain = each["gain_db"];
    EXPECT_LE(gain, last);
    EXPECT_GE(gain, 0.1);
    last = gain;
    EXPECT_NEAR(each["sqnr_db"].get<double>() - gain, plain.sqnr(), 1e-9);
    EXPECT_THAT(each["command"].get<std::string>(),
                HasSubstr("octavo optimize net.graph --data random:7:16 -o out.graph"));
    EXPECT_THAT(each["command"].get<std::string>(), Not(HasSubstr("--advise")));
  }
  for (const json& each : advice) {
    if (each["action"] != "int16") continue;
    Request again = JobOn(false);
    for (const json& name : each["names"]) again.options.int16.push_back(name);
    EXPECT_EQ(RunJob(again).sqnr(), each["sqnr_db"]);
    EXPECT_GT(each["cost_elements"], 0);
    return;
  }
  FAIL() << "no group gains with 16 bits: " << advice.dump();
}

TEST(Advice, IsTheSameForEveryNumberOfThreads) {
  Request several = JobOn(true);
  several.options.threads = 3;
  EXPECT_EQ(RunJob(several).text, RunJob(JobOn(true)).text);
}

TEST(Advice, KeepsTheOptionsOfTheJob) {
  Request request = JobOn(true);
  request.options.keep_float = {"c"};
  request.options.rounding = Rounding::kNearest;
  const Done done = RunJob(request);
  ASSERT_FALSE(done.report["advice"].empty());
  for (const json& each : done.report["advice"]) {
    const std::string command = each["command"];
    EXPECT_THAT(command, HasSubstr(" --keep-float c"));
    EXPECT_THAT(command, HasSubstr(each["action"] == "int16" ? " --rounding nearest" : "octavo"));
  }
}

TEST(Advice, ATargetWithout16BitsGetsNoneOfThem) {
  Request request = JobOn(true);
  request.options.target = "tflite";
  const Done done = RunJob(request);
  EXPECT_TRUE(done.report["numerics"].contains("error_shares"));
  for (const json& each : done.report["advice"]) {
    EXPECT_NE(each["action"], "int16");
    EXPECT_NE(each["action"], "activations");
  }
}

TEST(Advice, NeedsSamplesAndNoOtherChoice) {
  Request without = JobOn(true);
  without.samples.clear();
  without.profile = {"p.json", Blob(std::string(R"({"octavo_profile": 1, "samples": 100, "values": [
    {"name": "x", "min": -1, "max": 1}]})"))};
  Request budget = JobOn(true);
  budget.options.accuracy_budget = 30;
  for (const Request& request : {without, budget}) {
    const auto outcome = job::Run(request, {}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::kUsage);
    EXPECT_EQ(outcome.error().field, "advise");
  }
}

TEST(Advice, HasNoEffectWhereNothingIsQuantized) {
  Request request = JobOn(true);
  request.options.no_quantize = true;
  const Done done = RunJob(request);
  EXPECT_TRUE(done.report["advice"].empty());
  std::string message;
  for (const json& warning : done.report["warnings"]) {
    if (warning["code"] == "no_effect") message = warning["message"];
  }
  EXPECT_THAT(message, HasSubstr("--advise has no effect"));
}

TEST(Advice, StopsWithTheJob) {
  const StopToken stop;
  bool advised = false;
  const auto outcome = job::Run(JobOn(true), stop, [&](const Progress& progress) {
    advised |= progress.stage == "advice";
    if (progress.stage == "advice" && progress.done == 1) stop.RequestStop();
  });
  EXPECT_TRUE(advised);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// `bench`: its counts, and the trace that viewers read.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

using nlohmann::json;

// y = Relu(Sigmoid(x))
ModelInput Model() {
  onnx::ModelBuilder builder;
  builder.Input("x", {2, 3}).Node("Sigmoid", {"x"}, {"s"}).Node("Relu", {"s"}, {"y"}).Output("y");
  return {.model = {"m.onnx", builder.Build()}, .threads = 1};
}

TEST(BenchModel, HasNoTimesOfNodesUnlessAskedFor) {
  const auto result = BenchModel(Model(), {.runs = 3}, {});
  ASSERT_TRUE(result) << result.error().message;
  const json figures = json::parse(result->figures);
  EXPECT_EQ(figures["runs"], 3);
  EXPECT_EQ(figures["threads"], 1);
  EXPECT_LE(figures["p10_ms"], figures["median_ms"]);
  EXPECT_LE(figures["median_ms"], figures["p90_ms"]);
  EXPECT_FALSE(figures.contains("ops"));
  EXPECT_TRUE(result->trace.empty());
}

TEST(BenchModel, TimesEachNodeInTheOrderOfExecution) {
  const auto result = BenchModel(Model(), {.runs = 1, .profile_ops = true}, {});
  ASSERT_TRUE(result) << result.error().message;
  const json ops = json::parse(result->figures)["ops"];
  ASSERT_FALSE(ops.empty());
  EXPECT_EQ(ops.front()["op"], "Sigmoid");
  for (const json& op : ops) {
    EXPECT_FALSE(op["kernel"].get<std::string>().empty()) << op;
    EXPECT_GE(op["ms"].get<double>(), 0) << op;
  }
}

TEST(BenchModel, TheTraceHasEveryStepWithinItsRun) {
  const auto result = BenchModel(Model(), {.runs = 1, .trace = true}, {});
  ASSERT_TRUE(result) << result.error().message;
  const json trace = json::parse(result->trace);
  // Microseconds since the machine started, in a double.
  constexpr double kDigits = 1e-3;
  double run_begin = 0, run_end = 0;
  int runs = 0, steps = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    if (event["cat"] == "run") {
      EXPECT_GE(begin, run_end - kDigits);
      run_begin = begin, run_end = end;
      ++runs;
      continue;
    }
    ++steps;
    EXPECT_GE(begin, run_begin - kDigits) << event;
    EXPECT_LE(end, run_end + kDigits) << event;
    EXPECT_EQ(event["cat"], event["args"]["op"]);
  }
  EXPECT_GT(runs, 1);
  EXPECT_EQ(steps % runs, 0);
  EXPECT_GE(steps, runs);
}

}  // namespace
}  // namespace octavo::job

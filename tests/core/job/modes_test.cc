// SPDX-License-Identifier: Apache-2.0
// The whole job, `run` and `diff` in the numerics modes except `onnx`.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  const %v = random(3) : tensor<4x3x1x1xf32>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %r = Relu(%c) : tensor<1x4x8x8xf32>
  %d = Conv(%x, %v) : tensor<1x4x8x8xf32>
  %s = Add(%r, %d) : tensor<1x4x8x8xf32>
  %p = MaxPool(%s) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
  %g = GlobalAveragePool(%p) : tensor<1x4x1x1xf32>
  %y = Sigmoid(%g) : tensor<1x4x1x1xf32>
}
)";
constexpr std::pair<std::string_view, std::string_view> kTargets[] = {
    {"tflite", "tflite"},
    {"glow-interpreter", "glow-interpreter"},
    {"glow-cpu", "glow-cpu"},
    {"pow2-npu", "pow2"}};

Request For(std::string_view target, std::string_view model = kModel) {
  Request request;
  request.model = {"m.graph", Blob(std::string(model))};
  request.samples = {{"random:7:4", Blob(std::string())}};
  request.options.target = target;
  request.options.emit = EmitForm::kText;
  request.options.deterministic = true;
  request.options.threads = 1;
  return request;
}

Request NativeFor(std::string_view target) {
  Request request = For(target);
  request.options.emit = EmitForm::kNative;
  return request;
}

Result<Outcome> RunJob(const Request& request) { return Run(request, {}, {}); }

ModelInput InputOf(const Outcome& outcome, std::string_view mode, int threads = 1) {
  return {.model = {"q.octavo", outcome.model.bytes},
          .samples = {{"random:7:4", Blob(std::string())}},
          .threads = threads,
          .numerics = numerics::FindMode(mode)};
}

TEST(Modes, EachTargetsJobRunsInItsOwnMode) {
  for (const auto& [target, mode] : kTargets) {
    const auto outcome = RunJob(For(target));
    ASSERT_TRUE(outcome) << target << ": " << outcome.error().message;
    const json report = json::parse(outcome->report_json);
    EXPECT_EQ(report["numerics_mode"], mode);
    EXPECT_EQ(report["float_nodes"].size(), 0u) << target << report["float_nodes"];
    EXPECT_GT(report["numerics"]["outputs"][0]["sqnr_db"], 20) << target;
    Request again = For(target);
    again.options.threads = 2;
    const auto second = RunJob(again);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->model.bytes.text(), outcome->model.bytes.text()) << target;
    EXPECT_EQ(second->report_json, outcome->report_json) << target;
  }
}

TEST(Modes, RunGivesEqualBitsForAnyThreadsAndOtherBitsInOtherModes) {
  const auto outcome = RunJob(NativeFor("glow-interpreter"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto bytes = [&](std::string_view mode, int threads) {
    const auto files = RunModel(InputOf(*outcome, mode, threads), /*all_values=*/true, {}, {});
    if (!files) throw std::runtime_error(files.error().message);
    std::string all;
    for (const NamedBlob& file : *files) all += std::string(file.bytes.text());
    return all;
  };
  const std::string interpreter = bytes("glow-interpreter", 1);
  EXPECT_EQ(bytes("glow-interpreter", 2), interpreter);
  EXPECT_NE(bytes("glow-cpu", 1), interpreter);
}

TEST(Modes, AConstantIsRoundedAsTheModeRounds) {
  // Half steps of the weights' scale 1/127: tflite rounds them away from zero, onnx to even.
  constexpr std::string_view kHalves = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %w = [127, 0.5, 1.5, 2.5] : tensor<4x1xf32>
  %y = MatMul(%x, %w) : tensor<1x1xf32>
}
)";
  for (const std::string_view mode : {"onnx", "tflite"}) {
    Request request = For("cpu-int8", kHalves);
    request.options.numerics = numerics::FindMode(mode);
    request.options.rounding = Rounding::kNearest;
    const auto outcome = RunJob(request);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const std::string text(outcome->model.bytes.text());
    EXPECT_NE(text.find(mode == "onnx" ? "[127, 0, 2, 2]" : "[127, 1, 2, 3]"), std::string::npos)
        << text;
  }
}

TEST(Modes, AnOperatorThatTheModeDoesNotDefineIsUnsupported) {
  constexpr std::string_view kQuotient = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %two = [1.5, 2, 3, 4] : tensor<1x4xf32>
  %d = Div(%x, %two) : tensor<1x4xf32>
  %y = Relu(%d) : tensor<1x4xf32>
}
)";
  Request request = For("cpu-int8", kQuotient);
  EXPECT_TRUE(RunJob(request));
  request.options.numerics = &numerics::kGlowCpu;
  const auto refused = RunJob(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnimplemented);
  EXPECT_EQ(refused.error().node, "d");
  request.options.keep_float = {"Div"};
  EXPECT_TRUE(RunJob(request));
}

TEST(Modes, DiffAgainstAnotherModeTellsWhereTheyPart) {
  const auto outcome = RunJob(NativeFor("glow-interpreter"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  const ModelInput baseline{.model = {"m.graph", Blob(std::string(kModel))}, .threads = 1};
  const ModelInput input = InputOf(*outcome, "glow-interpreter");
  const auto same = DiffModels(baseline, input, &numerics::kGlowInterpreter, {}, {});
  ASSERT_TRUE(same) << same.error().message;
  const json of_same = json::parse(*same)["against"];
  EXPECT_EQ(of_same["numerics_mode"], "glow-interpreter");
  ASSERT_FALSE(of_same["values"].empty());
  for (const json& value : of_same["values"]) {
    EXPECT_EQ(value["accumulated"]["different"], 0) << value;
    EXPECT_EQ(value["local"]["different"], 0) << value;
    EXPECT_EQ(value["local"]["steps_histogram"][0], value["local"]["elements"]);
  }
  const auto other = DiffModels(baseline, input, &numerics::kGlowCpu, {}, {});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(json::parse(*other)["numerics_mode"], "glow-interpreter");
  int64_t different = 0;
  const json of_other = json::parse(*other)["against"];
  for (const json& value : of_other["values"]) {
    if (value["op"] == "MaxPool") {
      EXPECT_EQ(value["local"]["different"], 0) << "every mode compares stored integers";
    }
    if (value["op"] == "Conv") different += value["local"]["different"].get<int64_t>();
  }
  EXPECT_GT(different, 0);
}

}  // namespace
}  // namespace octavo::job

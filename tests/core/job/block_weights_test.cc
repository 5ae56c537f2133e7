// SPDX-License-Identifier: Apache-2.0
// --weights i4: a job stores matrices in 4 bits, and its result is the same for any thread count
// and in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/cpu.h"
#include "core/job/job.h"
#include "tests/core/job/without_stamp.h"

namespace octavo::job {
namespace {

using ::testing::HasSubstr;

// The second product's 24 inputs are not a multiple of a block.
constexpr std::string_view kModel =
    R"(graph(%x: tensor<4x64xf32>) -> (%y) opset(ai.onnx: 17) {
  const %v = random(1) : tensor<64x24xf32>
  const %w = random(2) : tensor<24x8xf32>
  %h = MatMul@"first"(%x, %v) : tensor<4x24xf32>
  %t = Tanh(%h) : tensor<4x24xf32>
  %y = MatMul@"second"(%t, %w) : tensor<4x8xf32>
}
)";

Request Asks(std::string_view samples = "random:1:8") {
  Request request;
  request.model = {"net.graph", Blob(std::string(kModel))};
  if (!samples.empty()) request.samples.push_back({std::string(samples), Blob()});
  request.options.weights = ir::DType::kI4;
  request.options.weights_only = {"MatMul"};
  request.options.block = 16;
  request.options.emit = EmitForm::kQdq;
  request.options.threads = 1;
  request.options.deterministic = true;
  return request;
}

Request Again(const std::string& model, EmitForm emit = EmitForm::kQdq) {
  Request request;
  request.model = {"m.onnx", Blob(model)};
  request.options.no_quantize = true;
  request.options.emit = emit;
  request.options.threads = 1;
  return request;
}

std::string BytesOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? std::string(outcome->model.bytes.text()) : std::string();
}

nlohmann::json ReportOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? nlohmann::json::parse(outcome->report_json) : nlohmann::json();
}

std::string RefusalOf(const Request& request, Code code) {
  const auto outcome = Run(request, {}, {});
  EXPECT_FALSE(outcome);
  if (outcome) return {};
  EXPECT_EQ(outcome.error().code, code);
  return outcome.error().message;
}

TEST(BlockWeights, AreRoundedWithErrorFeedbackAndTheOthersKeepEightBits) {
  const nlohmann::json report = ReportOf(Asks());
  ASSERT_EQ(report["weights"].size(), 2u);
  EXPECT_EQ(report["weights"][0]["node"], "second");
  EXPECT_EQ(
      report["weights"][0]["reason"],
      "its weights have i8 instead of i4: its 24 inputs are not a multiple of the block of 16");
  const nlohmann::json& weights = report["weights"][1];
  EXPECT_EQ(weights["node"], "first");
  EXPECT_EQ(weights["rounding"], "error-feedback");
  EXPECT_EQ(weights["elements"], 64 * 24);
  EXPECT_GT(weights["changed"], 0);
  EXPECT_LT(weights["objective_after"], weights["objective_before"]);
  Request text = Asks();
  text.options.emit = EmitForm::kText;
  const std::string graph = BytesOf(text);
  EXPECT_THAT(graph, HasSubstr("tensor<64x24xi4, axis=0, block=16, scale=[], zp=0>"));
  EXPECT_THAT(graph, HasSubstr("tensor<24x8xi8, axis=1, scale="));
  EXPECT_EQ(report["options"]["weights"], "i4");
  EXPECT_EQ(report["options"]["block"], 16);
}

TEST(BlockWeights, AreNearestWithoutSamplesOrOnRequest) {
  Request nearest = Asks();
  nearest.options.rounding = Rounding::kNearest;
  EXPECT_EQ(ReportOf(nearest)["weights"].size(), 1u);  // that of the layer with 8 bits
  EXPECT_NE(BytesOf(nearest), BytesOf(Asks()));
}

TEST(BlockWeights, HaveTheSameBytesForAnyThreadsAndInstructionSet) {
  const std::string expected = BytesOf(Asks());
  for (const int threads : {2, 3}) {
    Request request = Asks();
    request.options.threads = threads;
    EXPECT_EQ(BytesOf(request), expected) << threads;
  }
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    EXPECT_EQ(BytesOf(Asks()), expected) << IsaName(isa);
  }
}

TEST(BlockWeights, ASecondJobLeavesTheExportedModel) {
  const std::string first = BytesOf(Asks());
  const std::string again = BytesOf(Again(first));
  EXPECT_EQ(WithoutStamp(Blob(again)), WithoutStamp(Blob(first)));
  EXPECT_THAT(BytesOf(Again(first, EmitForm::kText)),
              HasSubstr("tensor<64x24xi4, axis=0, block=16, scale=[], zp=0>"));
}

TEST(BlockWeights, AJobThatStopsBeforeRoundingIsFinishedLater) {
  Request part = Asks(), whole = Asks();
  part.options.rounding = whole.options.rounding = Rounding::kNearest;
  part.options.stop_before = "merge-constants";
  const std::string resumed = BytesOf(Again(BytesOf(part)));
  EXPECT_EQ(WithoutStamp(Blob(resumed)), WithoutStamp(Blob(BytesOf(whole))));
}

TEST(BlockWeights, TakeFiveBitsEachInBlocksOf32) {
  Request request = Asks();
  request.model.bytes = Blob(std::string(
      "graph(%x: tensor<1x512xf32>) -> (%y) {\n  const %w = random(1) : tensor<512x512xf32>\n"
      "  %y = MatMul(%x, %w) : tensor<1x512xf32>\n}\n"));
  request.options.block = 32;
  constexpr double kRest = 8192;  // nodes, names and metadata
  EXPECT_LT(static_cast<double>(BytesOf(request).size()), 0.16 * 512 * 512 * 4 + kRest);
}

TEST(BlockWeights, AreForNamedLayersOfTargetsWithFloats) {
  Request request = Asks();
  request.options.weights_only.clear();
  EXPECT_THAT(RefusalOf(request, Code::kUsage), HasSubstr("--weights 'i4' must be given with"));
  request = Asks();
  request.options.weights.reset();
  EXPECT_EQ(RefusalOf(request, Code::kUsage),
            "--block '16' must be left out, except with --weights i4");
  request = Asks();
  request.options.block = 48;
  EXPECT_THAT(RefusalOf(request, Code::kUsage), HasSubstr("a power of two from 16 to 256"));
  request = Asks();
  request.options.schema = target::SchemeKind::kPow2;
  EXPECT_THAT(RefusalOf(request, Code::kUsage), HasSubstr("--weights 'i4' must be i8 or i16"));
}

}  // namespace
}  // namespace octavo::job

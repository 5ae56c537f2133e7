// SPDX-License-Identifier: Apache-2.0
// NaN elements that a Quantize reads: figures and warnings of a job's report and of `diff`.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"

namespace octavo::job {
namespace {

using nlohmann::json;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3xf32>
  %y = MatMul(%x, %w) : tensor<1x3xf32>
}
)";

NamedBlob Model() { return {"net.graph", Blob(std::string(kModel))}; }

// Two samples; `element` is in each of them.
std::vector<NamedBlob> SamplesWith(float element) {
  std::vector<NamedBlob> samples;
  for (const char* name : {"0/input_0.npy", "1/input_0.npy"}) {
    const ir::Tensor row = ir::Tensor::Of<float>({1, 4}, std::vector<float>{1, element, -2, 0.5});
    samples.push_back({name, Blob(data::WriteNpy(row))});
  }
  return samples;
}

Outcome Quantized(float element) {
  Request request{.model = Model(), .samples = SamplesWith(element)};
  request.options.allow_non_finite = true;
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : Outcome{};
}

void ExpectNans(const json& report) {
  const json& inputs = report["numerics"]["nan_inputs"];
  ASSERT_EQ(inputs.size(), 1u) << report["numerics"];
  EXPECT_EQ(inputs[0]["value"], "x");
  EXPECT_EQ(inputs[0]["count"], 2);
  std::vector<json> found;
  for (const json& warning : report["warnings"]) {
    if (warning["code"] == "nan_input") found.push_back(warning);
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["node"], inputs[0]["node"]);
  EXPECT_EQ(found[0]["message"], fmt::format("Quantize '{}' read 2 NaN elements of 'x' as its zero "
                                             "point",
                                             inputs[0]["node"].get<std::string>()));
}

void ExpectNone(const json& report) {
  EXPECT_EQ(report["numerics"]["nan_inputs"], json::array());
  for (const json& warning : report["warnings"]) EXPECT_NE(warning["code"], "nan_input");
}

const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(NanInputs, AreInTheReportOfAJob) {
  ExpectNans(json::parse(Quantized(kNan).report_json));
  ExpectNone(json::parse(Quantized(0.25f).report_json));
}

TEST(NanInputs, AreInTheReportOfADiff) {
  const NamedBlob model = Quantized(0.25f).model;
  for (const float element : {kNan, 0.25f}) {
    const ModelInput baseline{.model = Model()};
    const ModelInput input{
        .model = model, .samples = SamplesWith(element), .threads = 1, .allow_non_finite = true};
    const auto report = DiffModels(baseline, input, {}, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    element == 0.25f ? ExpectNone(json::parse(*report)) : ExpectNans(json::parse(*report));
  }
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Models whose weights are in separate files.
#include <gtest/gtest.h>

#include "core/job/execute.h"
#include "core/onnx/wire/external_data.h"

namespace octavo::job {
namespace {

constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<64x3x3x3xf32>
  %y = Conv(%x, %w) : tensor<1x64x6x6xf32>
}
)";

Result<Outcome> Optimized(int64_t external_over) {
  Request request;
  request.model = {"m.graph", Blob(std::string(kModel))};
  request.samples = {{"random:7:4", Blob(std::string())}};
  request.options.output_name = "net.onnx";
  request.options.external_over = external_over;
  request.options.threads = 1;
  return Run(request, {}, {});
}

std::string Ran(const NamedBlob& model, const std::vector<NamedBlob>& external) {
  const auto files = RunModel({.model = model,
                               .external_data = external,
                               .samples = {{"random:3:2", Blob(std::string())}},
                               .threads = 1},
                              /*all_values=*/false, {}, {});
  EXPECT_TRUE(files) << files.error().message;
  return files ? std::string(files->front().bytes.text()) : "";
}

TEST(ExternalData, IsNamedAfterTheOutputAndTheModelReadsAsBefore) {
  const auto separate = Optimized(0);
  ASSERT_TRUE(separate) << separate.error().message;
  ASSERT_EQ(separate->external.size(), 1u);
  EXPECT_EQ(separate->external[0].name, "net.onnx.data");
  EXPECT_GE(separate->external[0].bytes.size(), size_t{64 * 3 * 3 * 3});
  const auto locations = onnx::ListExternalData(separate->model.bytes);
  ASSERT_TRUE(locations) << locations.error().message;
  EXPECT_EQ(std::vector<std::string>(locations->begin(), locations->end()),
            std::vector<std::string>{"net.onnx.data"});
  EXPECT_NE(separate->report_json.find("\"output_name\""), std::string::npos);

  const auto whole = Optimized(kMaxInlineWeights);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(whole->external.empty());
  EXPECT_EQ(whole->report_json.find("\"output_name\""), std::string::npos);
  EXPECT_EQ(Ran(separate->model, separate->external), Ran(whole->model, {}));
}

TEST(ExternalData, OverMoreThanAMessageHoldsIsAUsageError) {
  const auto outcome = Optimized(kMaxInlineWeights + 1);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUsage);
  EXPECT_EQ(outcome.error().field, "external_over");
}

}  // namespace
}  // namespace octavo::job

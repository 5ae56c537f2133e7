// SPDX-License-Identifier: Apache-2.0
// --weights-only Gather: a job stores the table of an embedding as integers with a scale per row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/job/job.h"
#include "tests/core/job/without_stamp.h"

namespace octavo::job {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two embeddings; the second one's table has another consumer.
constexpr std::string_view kModel =
    R"(graph(%i: tensor<1x5xi64>, %j: tensor<1x5xi64>) -> (%y, %z, %t) {
  const %words = random(3) : tensor<50x32xf32>
  const %places = random(4) : tensor<8x32xf32>
  %word = Gather@"first"(%words, %i) {axis=0} : tensor<1x5x32xf32>
  %place = Gather@"second"(%places, %j) {axis=0} : tensor<1x5x32xf32>
  %y = Add(%word, %place) : tensor<1x5x32xf32>
  %z = Sin(%place) : tensor<1x5x32xf32>
  %t = Cos(%places) : tensor<8x32xf32>
}
)";

constexpr std::string_view kProfile = R"({"octavo_profile": 1, "values": [
  {"name": "word", "min": -1, "max": 1}, {"name": "place", "min": -1, "max": 1},
  {"name": "y", "min": -2, "max": 2}, {"name": "z", "min": -1, "max": 1}]})";

Request Asks(EmitForm emit, std::vector<std::string> weights_only) {
  Request request;
  request.model = {"net.graph", Blob(std::string(kModel))};
  request.profile = NamedBlob{"p.json", Blob(std::string(kProfile))};
  request.options.weights_only = std::move(weights_only);
  request.options.emit = emit;
  request.options.threads = 1;
  return request;
}

std::string BytesOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? std::string(outcome->model.bytes.text()) : std::string();
}

std::string Again(const std::string& model) {
  Request request;
  request.model = {"m.onnx", Blob(model)};
  request.options.no_quantize = true;
  request.options.emit = EmitForm::kQdq;
  request.options.threads = 1;
  return BytesOf(request);
}

TEST(WeightsOnlyGather, StoresIntegersWithAScalePerRow) {
  const std::string text = BytesOf(Asks(EmitForm::kText, {"Gather"}));
  EXPECT_THAT(text, HasSubstr("%words.q, %i) {axis=0} : tensor<1x5x32xi8>"));
  EXPECT_THAT(text, HasSubstr("%words.scale, %i) {axis=0} : tensor<1x5x1xf32>"));
  EXPECT_THAT(text, HasSubstr("%places.q, %j) {axis=0} : tensor<1x5x32xi8>"));
}

TEST(WeightsOnlyGather, OfOneNodeLeavesTheOthers) {
  Request request = Asks(EmitForm::kText, {"first"});
  request.options.output_type = OutputType::kInteger;
  const std::string text = BytesOf(request);
  EXPECT_THAT(text, HasSubstr("%words.q, %i) {axis=0} : tensor<1x5x32xi8>"));
  EXPECT_THAT(text, Not(HasSubstr("%places.q")));
}

TEST(WeightsOnlyGather, ASecondJobLeavesTheExportedModel) {
  const std::string first = BytesOf(Asks(EmitForm::kQdq, {"Gather"}));
  EXPECT_EQ(Again(first), first);
}

TEST(WeightsOnlyGather, AJobThatStopsBeforeRoundingIsFinishedLater) {
  Request part = Asks(EmitForm::kQdq, {"Gather"});
  part.options.stop_before = "merge-constants";
  const std::string resumed = Again(BytesOf(part)),
                    whole = BytesOf(Asks(EmitForm::kQdq, {"Gather"}));
  EXPECT_EQ(WithoutStamp(Blob(resumed)), WithoutStamp(Blob(whole)));
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// What the report's `rescales` count.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

json RescalesOf(std::string_view graph) {
  Request request{.model = {"net.graph", Blob(std::string(graph))}};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? json::parse(outcome->report_json)["rescales"] : json::object();
}

TEST(RescaleCount, IsOfTheModelBeforeEqualOnesAreShared) {
  const json rescales = RescalesOf(R"(graph(%x: tensor<1x4xu8, scale=0.5, zp=3>) -> (%y, %z) {
  %a = Rescale(%x) : tensor<1x4xu8, scale=0.25, zp=3>
  %b = Rescale(%x) : tensor<1x4xu8, scale=0.25, zp=3>
  %y = Transpose(%a) {perm=[1, 0]} : tensor<4x1xu8, scale=0.25, zp=3>
  %z = Transpose(%b) {perm=[0, 1]} : tensor<1x4xu8, scale=0.25, zp=3>
}
)");
  EXPECT_EQ(rescales["before"], 2);
  EXPECT_EQ(rescales["elements_before"], 8);
  EXPECT_EQ(rescales["after"], 1);
}

TEST(RescaleCount, LeavesOutThoseThatOnlyNameAnOutput) {
  const json rescales = RescalesOf(R"(graph(%x: tensor<1x4xu8, scale=0.5, zp=3>) -> (%y, %z) {
  %y = Rescale(%x) : tensor<1x4xu8, scale=0.5, zp=3>
  %z = Rescale(%x) : tensor<1x4xu8, scale=0.25, zp=3>
}
)");
  EXPECT_EQ(rescales["before"], 1);
  EXPECT_EQ(rescales["elements_before"], 4);
  EXPECT_EQ(rescales["after"], 1);
  EXPECT_EQ(rescales["kept"].size(), 1u);
}

}  // namespace
}  // namespace octavo::job

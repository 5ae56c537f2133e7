// SPDX-License-Identifier: Apache-2.0
// The figures of an operand whose range was narrowed to what its HardSigmoid tells apart.
#include <gtest/gtest.h>

#include "tests/core/job/graph_jobs.h"

namespace octavo::job {
namespace {

// The gate is 0 below -2 and 1 above 2; the product is within -16 and 16.
constexpr std::string_view kGate = R"(graph(%x: tensor<1x4xf32, range=[-1, 1]>) -> (%y) {
  const %w = [4, -4, 0.5, 4, 4, 0.25, -4, 4, -0.5, 4, 4, 0.25] : tensor<4x3xf32>
  %c = MatMul(%x, %w) : tensor<1x3xf32>
  %y = HardSigmoid(%c) {alpha = 0.25, beta = 0.5} : tensor<1x3xf32>
}
)";

json FiguresOf(std::string_view name, const std::string& profile) {
  Request request = JobOf(kGate, profile);
  request.samples = {{"random:7:64", Blob(std::string())}};
  request.options.output_type = OutputType::kInteger;
  const json report = RunGraphJob(request).report;
  for (const json& value : report["numerics"]["values"]) {
    if (value["name"] == name) return value;
  }
  ADD_FAILURE() << name << " has no figures";
  return {};
}

TEST(NarrowedOperand, IsComparedAtTheBoundsOfItsType) {
  const json c = FiguresOf("c", "x:-1:1 c:-16:16 y:0:1");
  ASSERT_NEAR(c["scale"].get<double>(), 4.0 / 255, 2e-3) << "the range was not narrowed";
  EXPECT_GT(c["sqnr_db"].get<double>(), 30) << "what the gate saturates anyway counts as error";
  EXPECT_GT(c["local_sqnr_db"].get<double>(), 30);
  EXPECT_EQ(c["saturated_ratio"], 0);
  EXPECT_LT(c["max_abs"].get<double>(), 0.2);
}

// Samples beyond a range that calibration found too small change the gate.
TEST(NarrowedOperand, LossesWithinTheUsefulRangeCount) {
  const json c = FiguresOf("c", "x:-1:1 c:-1:1 y:0:1");
  ASSERT_NEAR(c["scale"].get<double>(), 2.0 / 255, 1e-3);
  EXPECT_LT(c["sqnr_db"].get<double>(), 10);
  EXPECT_GT(c["saturated_ratio"].get<double>(), 0.2);
}

}  // namespace
}  // namespace octavo::job

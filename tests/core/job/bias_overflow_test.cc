// SPDX-License-Identifier: Apache-2.0
// The warning of biases that their integers cannot hold.
#include <gmock/gmock.h>

#include "tests/core/job/graph_jobs.h"

namespace octavo::job {
namespace {

std::vector<std::string> MessagesOf(const GraphDone& done, std::string_view code) {
  std::vector<std::string> messages;
  for (const json& warning : done.report["warnings"]) {
    if (warning["code"] == code) messages.push_back(warning["message"]);
  }
  return messages;
}

TEST(BiasOverflow, Of16BitsIsReported) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x3xf32>) -> (%y) {
  const %w = splat(0.5) : tensor<3x2xf32>
  const %b = [500, -0.25] : tensor<2xf32>
  %y = Gemm(%x, %w, %b) : tensor<1x2xf32>
}
)";
  const GraphDone done =
      RunGraphJob(JobOf(net, "x:-1:1 y:-512:512", Like("cpu-int8", R"(, "bias_bits": 16)")));
  EXPECT_THAT(MessagesOf(done, "bias_overflow"),
              testing::ElementsAre("biases would overflow 16 bits, so the scales of their weights "
                                   "were raised: Gemm 'y': channel 0 is constant: its weights are "
                                   "below the accumulator's resolution"));
  EXPECT_TRUE(MessagesOf(RunGraphJob(JobOf(net, "x:-1:1 y:-512:512")), "bias_overflow").empty());
}

TEST(BiasOverflow, OfAModelIsOneWarningThatSaysWhatIsLost) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x3xf32>) -> (%z) {
  const %w = [1, 0.001, 1, 1, 0.001, 1, 1, 0.001, 1] : tensor<3x3xf32>
  const %b = [1e7, 1e8, 0] : tensor<3xf32>
  %y = Gemm(%x, %w, %b) : tensor<1x3xf32>
  const %v = [1, 1, 1, 1, 1, 1] : tensor<3x2xf32>
  const %c = [1e16, 1e16] : tensor<2xf32>
  %z = Gemm(%y, %v, %c) : tensor<1x2xf32>
}
)";
  EXPECT_THAT(
      MessagesOf(RunGraphJob(JobOf(net, "x:-1:1 y:-2:2 z:-2:2")), "bias_overflow"),
      testing::ElementsAre(
          "biases would overflow 32 bits, so the scales of their weights were raised: Gemm 'y': "
          "channel 1 is constant: its weights are below the accumulator's resolution; channel 0 "
          "has up to 151 times coarser steps; Gemm 'z': channels 0, 1 are constant: their weights "
          "are below the accumulator's resolution"));
}

}  // namespace
}  // namespace octavo::job

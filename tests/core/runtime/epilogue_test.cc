// SPDX-License-Identifier: Apache-2.0
// Functions fused into a convolution's epilogue give the bits of the separate ops.
#include "core/runtime/plan/epilogue.h"

#include <gmock/gmock.h>

#include "tests/core/runtime/image_network.h"

namespace octavo::runtime {
namespace {

using ir::ValueId;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

const std::string kEnd = "Layout";  // outputs are plain

TEST(Epilogue, AConvolutionOfAnyWidthFusesAFunction) {
  for (const auto& [channels, kernel] : {std::pair{5, 1}, {64, 1}, {70, 3}, {130, 1}}) {
    ImageNetwork net;
    const ValueId y = net.Conv(net.x(), channels, kernel);
    net.Output(net.Add("HardSwish", {y}, channels));
    EXPECT_THAT(net.Steps(), ElementsAre(kEnd, "Conv+Table", kEnd)) << channels;
  }
}

TEST(Epilogue, SoDoGroupedAndDepthwiseConvolutions) {
  ImageNetwork net;
  const ValueId grouped = net.Add("Sigmoid", {net.Conv(net.x(), 90, 3, 3)}, 90);
  net.Output(net.Add("Tanh", {net.Conv(grouped, 90, 3, 90)}, 90));
  EXPECT_THAT(net.Steps(), ElementsAre(kEnd, "Conv+Table", "Conv+Table", kEnd));
}

TEST(Epilogue, ARescaleIsAFunction) {
  ImageNetwork net;
  net.Output(net.Rescale(net.Conv(net.x(), 70, 3)));
  EXPECT_THAT(net.Steps(), ElementsAre(kEnd, "Conv+Table", kEnd));
}

TEST(Epilogue, AnAddComesBeforeTheFunction) {
  ImageNetwork net;
  const ValueId a = net.Conv(net.x(), 70, 1);
  const ValueId b = net.Pool(net.Conv(net.x(), 70, 3));
  net.Output(net.Add("Swish", {net.Add("Add", {b, a}, 70)}, 70));
  EXPECT_THAT(net.Steps(), Contains("Conv+Add+Table"));
}

TEST(Epilogue, TheFunctionIsStoredToAConcat) {
  ImageNetwork net;
  const ValueId a = net.Add("Swish", {net.Conv(net.x(), 7, 1)}, 7);
  const ValueId b = net.Add("Swish", {net.Conv(net.x(), 130, 3)}, 130);
  net.Output(net.Pool(net.Concat({a, b})));
  EXPECT_THAT(net.Steps(), ElementsAre(kEnd, "Conv+Table", "Conv+Table", "MaxPool", kEnd));
}

TEST(Epilogue, AResultWithOtherConsumersIsStored) {
  ImageNetwork net;
  const ValueId y = net.Conv(net.x(), 7, 1);
  net.Output(net.Add("Swish", {y}, 7));
  net.Output(net.Pool(y));
  EXPECT_THAT(net.Steps(), Not(Contains("Conv+Table")));
}

}  // namespace
}  // namespace octavo::runtime

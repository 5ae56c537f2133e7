// SPDX-License-Identifier: Apache-2.0
// In-place Concats give the bits of a copy, for all producers and consumers of the operands.
#include "core/runtime/plan/inplace_concat.h"

#include <gtest/gtest.h>

#include "tests/core/runtime/image_network.h"

namespace octavo::runtime {
namespace {

using ir::ValueId;

int CopiesOf(const ImageNetwork& net) {
  const std::vector<std::string> steps = net.Steps();
  return static_cast<int>(std::ranges::count(steps, "Concat"));
}

TEST(InPlaceConcat, ConvolutionsOfAnyWidthStoreTheirSlice) {
  ImageNetwork net;
  const ValueId a = net.Conv(net.x(), 7, 1), b = net.Conv(net.x(), 33, 3);
  const ValueId c = net.Conv(net.x(), 130, 3), d = net.Conv(net.x(), 9, 3, 3);
  net.Output(net.Pool(net.Concat({a, b, c, d}, -3)));
  EXPECT_EQ(CopiesOf(net), 0);
}

TEST(InPlaceConcat, AConvolutionWithAFusedAddStoresItsSlice) {
  ImageNetwork net;
  const ValueId sum = net.Add("Add", {net.Conv(net.x(), 9, 3), net.x()}, 9);
  net.Output(net.Concat({sum, net.Conv(net.x(), 20, 1)}));
  EXPECT_EQ(CopiesOf(net), 0);
}

TEST(InPlaceConcat, OperandsOfOtherKernelsAndWithOtherConsumersAreCopied) {
  ImageNetwork net;
  const ValueId seen = net.Conv(net.x(), 12, 1), depthwise = net.Conv(net.x(), 9, 3, 9);
  net.Output(seen);
  const ValueId joined = net.Concat({depthwise, net.Conv(seen, 5, 1), seen, net.Pool(net.x())});
  net.Output(net.Concat({joined, net.Conv(joined, 3, 3)}));
  EXPECT_EQ(CopiesOf(net), 2);
}

TEST(InPlaceConcat, AnOperandThatOccursTwiceIsCopied) {
  ImageNetwork net;
  const ValueId a = net.Conv(net.x(), 6, 1);
  net.Output(net.Concat({a, a}));
  EXPECT_EQ(CopiesOf(net), 1);
}

}  // namespace
}  // namespace octavo::runtime

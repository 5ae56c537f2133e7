// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions of many sizes, bit for bit against plain loops.  Sizes differ in the path,
// in the number of vectors, and in the remainder of the last vector.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "core/base/cpu.h"
#include "tests/core/float_exec/kernels/naive.h"

namespace octavo::float_exec {
namespace {

void ExpectNaive(const ConvShape& s, unsigned seed) {
  const auto x = test::Random(s.batch * s.in_channels * s.in_height * s.in_width, seed);
  const auto w = test::Random(
      s.out_channels * (s.in_channels / s.groups) * s.kernel_height * s.kernel_width, seed + 1);
  const auto bias = test::Random(s.out_channels, seed + 2);
  for (const float* added : {bias.data(), static_cast<const float*>(nullptr)}) {
    const std::vector<float> want = test::NaiveConv(s, x, w, added);
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      ThreadPool pool(2);
      std::vector<float> y(want.size() + 1, 4711);
      Conv2d(s, x.data(), w.data(), added, y.data(), pool);
      ASSERT_EQ(std::memcmp(y.data(), want.data(), want.size() * sizeof(float)), 0)
          << IsaName(isa) << ": groups " << s.groups << " of " << s.in_channels << " to "
          << s.out_channels << " channels, " << s.in_height << "x" << s.in_width << ", kernel "
          << s.kernel_height << "x" << s.kernel_width << ", stride " << s.stride_height << "x"
          << s.stride_width << ", dilation " << s.dilation_height << "x" << s.dilation_width
          << ", pads " << s.pad_top << " " << s.pad_left << " " << s.pad_bottom << " "
          << s.pad_right;
      ASSERT_EQ(y.back(), 4711) << "written beyond the end on " << IsaName(isa);
    }
  }
}

// Draws random sizes until `count` of them have an output.
void Sweep(int count, unsigned seed, int64_t groups_most, int64_t ins_most, int64_t outs_most) {
  std::mt19937 random(seed);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int done = 0; done < count;) {
    const int64_t groups = draw(2, groups_most);
    const ConvShape s{.batch = draw(1, 2),
                      .in_channels = groups * draw(1, ins_most),
                      .out_channels = groups * draw(1, outs_most),
                      .groups = groups,
                      .in_height = draw(1, 18),
                      .in_width = draw(1, 36),
                      .kernel_height = draw(1, 5),
                      .kernel_width = draw(1, 5),
                      .stride_height = draw(1, 3),
                      .stride_width = draw(1, 3),
                      .dilation_height = draw(1, 2),
                      .dilation_width = draw(1, 2),
                      .pad_top = draw(-1, 3),
                      .pad_left = draw(-1, 3),
                      .pad_bottom = draw(-1, 3),
                      .pad_right = draw(-1, 3)};
    if (ConvOutHeight(s) == 0 || ConvOutWidth(s) == 0) continue;
    ExpectNaive(s, seed + static_cast<unsigned>(done++));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ConvSweep, DepthwiseOfSmallPlanesIsTheNaiveLoop) { Sweep(400, 1, 9, 1, 1); }
TEST(ConvSweep, GroupsOfFewChannelsAreTheNaiveLoop) { Sweep(200, 2, 12, 5, 9); }
TEST(ConvSweep, GroupsOfManyChannelsAreTheNaiveLoop) { Sweep(150, 3, 2, 6, 50); }

// The last shape has rows that are longer than a band.
const ConvShape kLargePlanes[] = {
    {.batch = 2,
     .in_channels = 2,
     .out_channels = 2,
     .groups = 2,
     .in_height = 99,
     .in_width = 101,
     .kernel_height = 3,
     .kernel_width = 3,
     .pad_top = 1,
     .pad_left = 1,
     .pad_bottom = 1,
     .pad_right = 1},
    {.in_channels = 2,
     .out_channels = 4,
     .groups = 2,
     .in_height = 120,
     .in_width = 97,
     .kernel_height = 5,
     .kernel_width = 3,
     .stride_height = 2,
     .stride_width = 2,
     .dilation_height = 2,
     .pad_top = 5,
     .pad_left = 1,
     .pad_bottom = 3,
     .pad_right = 2},
    {.in_channels = 3,
     .out_channels = 3,
     .groups = 3,
     .in_height = 31,
     .in_width = 75,
     .kernel_height = 5,
     .kernel_width = 5,
     .stride_height = 2,
     .stride_width = 2,
     .pad_top = 2,
     .pad_left = 2,
     .pad_bottom = 2,
     .pad_right = 2},
    {.in_channels = 2,
     .out_channels = 2,
     .groups = 2,
     .in_height = 5,
     .in_width = 3000,
     .kernel_height = 3,
     .kernel_width = 3,
     .pad_top = 2,
     .pad_left = 1,
     .pad_right = 1},
};

TEST(ConvSweep, LargePlanesInBandsAreTheNaiveLoop) {
  for (const ConvShape& shape : kLargePlanes) ExpectNaive(shape, 5);
}

}  // namespace
}  // namespace octavo::float_exec

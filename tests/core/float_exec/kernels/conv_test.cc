// SPDX-License-Identifier: Apache-2.0
// The float convolutions, bit for bit against the plain loops that define them, on every
// instruction set of this machine and several thread counts.
#include "core/float_exec/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/cpu.h"
#include "tests/core/float_exec/kernels/naive.h"

namespace octavo::float_exec {
namespace {

using test::NaiveConv;
using test::Random;

// Convolves the input, with zeros inserted between its elements, with the mirrored kernel.
std::vector<float> NaiveTranspose(const ConvShape& s, const std::vector<float>& x,
                                  const std::vector<float>& w, const float* bias) {
  ConvShape forward = s;
  forward.in_height = (s.in_height - 1) * s.stride_height + 1;
  forward.in_width = (s.in_width - 1) * s.stride_width + 1;
  forward.stride_height = forward.stride_width = 1;
  const int64_t reach_height = (s.kernel_height - 1) * s.dilation_height;
  const int64_t reach_width = (s.kernel_width - 1) * s.dilation_width;
  forward.pad_top = reach_height - s.pad_top;
  forward.pad_left = reach_width - s.pad_left;
  forward.pad_bottom = reach_height - s.pad_bottom + s.output_padding_height;
  forward.pad_right = reach_width - s.pad_right + s.output_padding_width;
  std::vector<float> stuffed(
      static_cast<size_t>(s.batch * s.in_channels * forward.in_height * forward.in_width));
  for (int64_t p = 0; p < s.batch * s.in_channels; ++p) {
    for (int64_t i = 0; i < s.in_height; ++i) {
      for (int64_t j = 0; j < s.in_width; ++j) {
        stuffed[(p * forward.in_height + i * s.stride_height) * forward.in_width +
                j * s.stride_width] = x[(p * s.in_height + i) * s.in_width + j];
      }
    }
  }
  const int64_t ins = s.in_channels / s.groups, outs = s.out_channels / s.groups;
  const int64_t area = s.kernel_height * s.kernel_width;
  std::vector<float> mirrored(static_cast<size_t>(s.out_channels * ins * area));
  for (int64_t o = 0; o < s.out_channels; ++o) {
    for (int64_t c = 0; c < ins; ++c) {
      for (int64_t t = 0; t < area; ++t) {
        mirrored[(o * ins + c) * area + t] =
            w[((o / outs * ins + c) * outs + o % outs) * area + area - 1 - t];
      }
    }
  }
  return NaiveConv(forward, stuffed, mirrored, bias);
}

struct Case {
  const char* name;
  ConvShape shape;
};

const Case kForward[] = {
    {"pointwise", {.batch = 2, .in_channels = 5, .out_channels = 9, .in_height = 7, .in_width = 6}},
    {"3x3 same",
     {.in_channels = 17,
      .out_channels = 19,
      .in_height = 9,
      .in_width = 11,
      .kernel_height = 3,
      .kernel_width = 3,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"stem",
     {.batch = 2,
      .in_channels = 3,
      .out_channels = 16,
      .in_height = 23,
      .in_width = 21,
      .kernel_height = 7,
      .kernel_width = 7,
      .stride_height = 2,
      .stride_width = 2,
      .pad_top = 3,
      .pad_left = 3,
      .pad_bottom = 3,
      .pad_right = 3}},
    {"stride 3 by 2, dilated, crooked pads",
     {.in_channels = 4,
      .out_channels = 6,
      .in_height = 17,
      .in_width = 14,
      .kernel_height = 3,
      .kernel_width = 2,
      .stride_height = 3,
      .stride_width = 2,
      .dilation_height = 2,
      .dilation_width = 3,
      .pad_top = 0,
      .pad_left = 2,
      .pad_bottom = 3,
      .pad_right = 1}},
    {"strided pointwise",
     {.in_channels = 8,
      .out_channels = 8,
      .in_height = 8,
      .in_width = 9,
      .stride_height = 2,
      .stride_width = 2}},
    {"strided pointwise of many pixels",
     {.batch = 2,
      .in_channels = 140,
      .out_channels = 20,
      .groups = 2,
      .in_height = 69,
      .in_width = 60,
      .stride_height = 3,
      .stride_width = 2}},
    {"groups",
     {.batch = 2,
      .in_channels = 12,
      .out_channels = 20,
      .groups = 4,
      .in_height = 6,
      .in_width = 5,
      .kernel_height = 3,
      .kernel_width = 3,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"depthwise",
     {.batch = 2,
      .in_channels = 7,
      .out_channels = 7,
      .groups = 7,
      .in_height = 19,
      .in_width = 70,
      .kernel_height = 3,
      .kernel_width = 3,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"depthwise strided, two outputs each",
     {.in_channels = 5,
      .out_channels = 10,
      .groups = 5,
      .in_height = 19,
      .in_width = 33,
      .kernel_height = 5,
      .kernel_width = 3,
      .stride_height = 2,
      .stride_width = 2,
      .dilation_width = 2,
      .pad_top = 2,
      .pad_left = 1,
      .pad_right = 2}},
    {"1d",
     {.in_channels = 6,
      .out_channels = 4,
      .in_width = 50,
      .kernel_width = 5,
      .stride_width = 2,
      .pad_left = 2,
      .pad_right = 2}},
    {"kernel as large as the padded image",
     {.in_channels = 3,
      .out_channels = 2,
      .in_height = 2,
      .in_width = 2,
      .kernel_height = 5,
      .kernel_width = 5,
      .pad_top = 2,
      .pad_left = 2,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"deep", {.in_channels = 300, .out_channels = 33, .in_height = 3, .in_width = 3}},
    {"many channels, some more than vectors hold, in rows of three parts",
     {.batch = 2,
      .in_channels = 17,
      .out_channels = 45,
      .in_height = 6,
      .in_width = 62,
      .kernel_height = 3,
      .kernel_width = 3,
      .stride_height = 1,
      .stride_width = 2,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"many channels, rows longer than a block",
     {.in_channels = 3,
      .out_channels = 16,
      .in_height = 3,
      .in_width = 500,
      .kernel_height = 2,
      .kernel_width = 3}},
    {"many channels of a small image",
     {.batch = 2, .in_channels = 140, .out_channels = 109, .in_height = 7, .in_width = 7}},
    {"negative pads crop",
     {.in_channels = 3,
      .out_channels = 4,
      .in_height = 9,
      .in_width = 8,
      .kernel_height = 3,
      .kernel_width = 3,
      .pad_top = -1,
      .pad_left = -2,
      .pad_bottom = 1,
      .pad_right = -1}},
};

const Case kTransposed[] = {
    {"doubling",
     {.batch = 2,
      .in_channels = 6,
      .out_channels = 5,
      .in_height = 4,
      .in_width = 5,
      .kernel_height = 2,
      .kernel_width = 2,
      .stride_height = 2,
      .stride_width = 2}},
    {"overlapping, crooked",
     {.in_channels = 4,
      .out_channels = 6,
      .groups = 2,
      .in_height = 5,
      .in_width = 3,
      .kernel_height = 3,
      .kernel_width = 4,
      .stride_height = 2,
      .stride_width = 3,
      .dilation_height = 2,
      .pad_top = 1,
      .pad_left = 0,
      .pad_bottom = 2,
      .pad_right = 1,
      .output_padding_height = 1,
      .output_padding_width = 2}},
    {"depthwise",
     {.in_channels = 4,
      .out_channels = 4,
      .groups = 4,
      .in_height = 6,
      .in_width = 7,
      .kernel_height = 4,
      .kernel_width = 4,
      .stride_height = 2,
      .stride_width = 2,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1}},
    {"pads larger than the kernel",
     {.in_channels = 2,
      .out_channels = 3,
      .in_height = 6,
      .in_width = 6,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 2}},
};

using Kernel = void (*)(const ConvShape&, const float*, const float*, const float*, float*,
                        ThreadPool&);

void ExpectSameBits(const Case& test, const std::vector<float>& want, const std::vector<float>& x,
                    const std::vector<float>& w, const float* bias, Kernel kernel) {
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 2, 3, 8}) {
      ThreadPool pool(threads);
      std::vector<float> y(want.size(), NAN);
      kernel(test.shape, x.data(), w.data(), bias, y.data(), pool);
      ASSERT_EQ(std::memcmp(y.data(), want.data(), y.size() * sizeof(float)), 0)
          << test.name << ", " << IsaName(isa) << ", " << threads << " threads";
    }
  }
}

TEST(Conv2d, IsTheNaiveLoopBitForBitOnEveryIsaAndThreadCount) {
  for (const Case& test : kForward) {
    const ConvShape& s = test.shape;
    const auto x = Random(s.batch * s.in_channels * s.in_height * s.in_width, 1);
    const auto w =
        Random(s.out_channels * s.in_channels / s.groups * s.kernel_height * s.kernel_width, 2);
    const auto bias = Random(s.out_channels, 3);
    const auto want = NaiveConv(s, x, w, bias.data());
    ASSERT_FALSE(want.empty()) << test.name;
    ExpectSameBits(test, want, x, w, bias.data(), Conv2d);
    ExpectSameBits(test, NaiveConv(s, x, w, nullptr), x, w, nullptr, Conv2d);
  }
}

TEST(ConvTranspose2d, IsTheNaiveLoopBitForBitOnEveryIsaAndThreadCount) {
  for (const Case& test : kTransposed) {
    const ConvShape& s = test.shape;
    const auto x = Random(s.batch * s.in_channels * s.in_height * s.in_width, 1);
    const auto w =
        Random(s.in_channels * s.out_channels / s.groups * s.kernel_height * s.kernel_width, 2);
    const auto bias = Random(s.out_channels, 3);
    const auto want = NaiveTranspose(s, x, w, bias.data());
    ASSERT_EQ(static_cast<int64_t>(want.size()),
              s.batch * s.out_channels * ConvTransposeOutHeight(s) * ConvTransposeOutWidth(s));
    ExpectSameBits(test, want, x, w, bias.data(), ConvTranspose2d);
  }
}

TEST(Conv2d, AKernelLargerThanTheImageGivesNoOutput) {
  const ConvShape s{.in_channels = 1,
                    .out_channels = 1,
                    .in_height = 2,
                    .in_width = 2,
                    .kernel_height = 3,
                    .kernel_width = 3};
  EXPECT_EQ(ConvOutHeight(s), 0);
  ThreadPool pool(1);
  const std::vector<float> x(4), w(9);
  float untouched = 5;
  Conv2d(s, x.data(), w.data(), nullptr, &untouched, pool);
  EXPECT_EQ(untouched, 5);
}

TEST(Conv2d, PaddingTakesPartAsZeroOnEveryPath) {
  // An infinite weight over padding gives NaN on the dense path and on the depthwise path.
  const float infinite[] = {INFINITY, 1, 1};
  const float x[] = {1, 2, 3, 4};
  ThreadPool pool(1);
  for (const int64_t groups : {int64_t{1}, int64_t{2}}) {
    const ConvShape s{.in_channels = groups,
                      .out_channels = groups,
                      .groups = groups,
                      .in_width = 4 / groups,
                      .kernel_width = 3,
                      .pad_left = 1,
                      .pad_right = 1};
    std::vector<float> weights;
    for (int64_t g = 0; g < groups; ++g) weights.insert(weights.end(), infinite, infinite + 3);
    std::vector<float> y(4);
    Conv2d(s, x, weights.data(), nullptr, y.data(), pool);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_TRUE(std::isinf(y[1]));
  }
}

}  // namespace
}  // namespace octavo::float_exec

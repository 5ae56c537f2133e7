// SPDX-License-Identifier: Apache-2.0
// Integer convolutions, bit for bit against int64 loops, on every instruction set of this machine
// and with several thread counts.
#include "core/runtime/int8/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "core/base/cpu.h"
#include "tests/core/runtime/int8/oracle.h"

namespace octavo::runtime::int8 {
namespace {

using test::Drawn;
using test::Kind;

// sum of (x - zx) * (w - zw) + bias for one output.
int64_t Sum(const ConvSpec& spec, const uint8_t* image, int64_t row, int64_t column, int64_t o) {
  const ConvShape& s = spec.shape;
  const int64_t ins = s.in_channels / s.groups, first = o / (s.out_channels / s.groups) * ins;
  const int64_t zero = test::PerChannel(spec.weights.zero_points, o, 0);
  int64_t sum = spec.bias[size_t(o)];
  for (int64_t c = 0; c < ins; ++c) {
    for (int64_t i = 0; i < s.kernel_height; ++i) {
      for (int64_t j = 0; j < s.kernel_width; ++j) {
        const int64_t y = row * s.stride_height - s.pad_top + i * s.dilation_height;
        const int64_t x = column * s.stride_width - s.pad_left + j * s.dilation_width;
        if (y < 0 || y >= s.in_height || x < 0 || x >= s.in_width) continue;
        const int64_t at = (y * s.in_width + x) * s.in_channels + first + c;
        const int64_t w = ((o * ins + c) * s.kernel_height + i) * s.kernel_width + j;
        sum += (test::ValueAt(image, spec.input.storage, at) - spec.input.zero_point) *
               (test::ValueAt(spec.weights.data, spec.weights.storage, w) - zero);
      }
    }
  }
  return sum;
}

std::vector<uint8_t> Naive(const ConvSpec& spec, const std::vector<uint8_t>& input) {
  const ConvShape& s = spec.shape;
  std::vector<uint8_t> out;
  for (int64_t n = 0; n < s.batch; ++n) {
    const uint8_t* image = input.data() + n * s.in_height * s.in_width * s.in_channels;
    for (int64_t row = 0; row < float_exec::ConvOutHeight(s); ++row) {
      for (int64_t column = 0; column < float_exec::ConvOutWidth(s); ++column) {
        for (int64_t o = 0; o < s.out_channels; ++o) {
          test::AppendFinished(Sum(spec, image, row, column, o), spec.requantization, o, out);
        }
      }
    }
  }
  return out;
}

ConvShape Square(int64_t ins, int64_t outs, int64_t size, int64_t kernel, int64_t pad,
                 int64_t stride = 1, int64_t groups = 1) {
  return {.in_channels = ins,
          .out_channels = outs,
          .groups = groups,
          .in_height = size,
          .in_width = size,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride_height = stride,
          .stride_width = stride,
          .pad_top = pad,
          .pad_left = pad,
          .pad_bottom = pad,
          .pad_right = pad};
}

std::vector<ConvShape> Shapes() {
  std::vector<ConvShape> shapes;
  for (const int64_t channels : {1, 3, 5, 63, 64, 65}) {
    shapes.push_back(Square(channels, 65 - channels % 4, 5, 1, 0));      // pointwise
    shapes.push_back(Square(channels, channels, 4, 3, 1));               // same
    shapes.push_back(Square(channels, channels, 6, 3, 1, 2, channels));  // depthwise, strided
  }
  shapes.push_back(Square(4, 130, 1, 1, 0));            // a 1x1 image
  shapes.push_back(Square(8, 16, 1, 3, 1));             // mostly padding
  shapes.push_back(Square(4, 6, 2, 5, 2));              // a kernel larger than the image
  shapes.push_back(Square(3, 17, 15, 7, 3, 2));         // a stem
  shapes.push_back(Square(12, 20, 5, 3, 1, 1, 2));      // groups copied to rows
  shapes.push_back(Square(16, 8, 5, 3, 1, 1, 4));       // groups by pointers
  shapes.push_back(Square(6, 12, 5, 3, 1, 1, 6));       // two outputs per channel
  shapes.push_back(Square(16, 20, 7, 1, 0, 2));         // strided pointwise
  shapes.push_back(Square(130, 130, 5, 5, 2, 1, 130));  // depthwise 5x5
  ConvShape crooked = Square(8, 9, 9, 3, 0);
  crooked.batch = 2;
  crooked.kernel_width = 2;
  crooked.stride_width = 3;
  crooked.dilation_height = 2;
  crooked.dilation_width = 3;
  crooked.pad_top = 1;
  crooked.pad_right = 4;
  shapes.push_back(crooked);
  crooked.in_channels = crooked.out_channels = crooked.groups = 33;
  shapes.push_back(crooked);
  crooked.in_channels = 5;
  crooked.groups = 1;
  shapes.push_back(crooked);
  return shapes;
}

std::string Describe(const ConvShape& s, const Kind& kind, Isa isa, int threads) {
  return fmt::format("{} -> {} in {} groups, {}x{}, kernel {}x{}; {}; {}, {} threads",
                     s.in_channels, s.out_channels, s.groups, s.in_height, s.in_width,
                     s.kernel_height, s.kernel_width, kind.name, IsaName(isa), threads);
}

void ExpectEqualsNaive(const ConvShape& s, const Kind& kind) {
  const int64_t taps = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
  const Drawn drawn(kind, s.out_channels, taps);
  const ConvSpec spec{.shape = s,
                      .input = kind.input,
                      .weights = drawn.View(kind),
                      .bias = drawn.bias,
                      .requantization = drawn.End(kind)};
  ASSERT_TRUE(FitsInt32(spec.weights, s.out_channels, taps, spec.input, spec.bias));
  const auto input = test::RandomBytes(s.batch * s.in_height * s.in_width * s.in_channels, 4);
  const auto want = Naive(spec, input);
  ASSERT_FALSE(want.empty());
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    const auto plan = ConvPlan::Prepare(spec);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      std::vector<uint8_t> output(want.size(), 0xee);
      plan->Run(input.data(), output.data(), pool);
      ASSERT_EQ(output, want) << Describe(s, kind, isa, threads);
    }
  }
}

TEST(Int8Conv, IsTheInt64LoopBitForBitOnEveryIsaAndThreadCount) {
  for (const ConvShape& shape : Shapes()) {
    for (const Kind& kind : test::kKinds) {
      ExpectEqualsNaive(shape, kind);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Int8Conv, DepthwiseRowsAreInterleavedWithoutChangeWhateverTheKernel) {
  for (const int64_t channels : {16, 24, 48, 144, 330}) {
    for (const int64_t kernel : {2, 3, 4, 5, 7}) {
      for (const int64_t stride : {1, 2, 3}) {
        const ConvShape shape =
            Square(channels, channels, 11, kernel, kernel / 2, stride, channels);
        ExpectEqualsNaive(shape, test::kKinds[(channels + kernel + stride) % 2]);
        if (HasFatalFailure()) return;
      }
    }
  }
  ConvShape wide = Square(20, 20, 3, 3, 1, 1, 20);  // more columns than a task's piece
  wide.in_width = 333;
  wide.pad_left = 4;
  for (const Kind& kind : test::kKinds) ExpectEqualsNaive(wide, kind);
  wide.dilation_height = wide.dilation_width = 2;
  wide.pad_top = 2;
  for (const Kind& kind : test::kKinds) ExpectEqualsNaive(wide, kind);
}

// The residual Add of a convolution's results `own` and an addend `others`, by its definition.
std::vector<uint8_t> Added(const ConvSpec& spec, const std::vector<uint8_t>& own,
                           const std::vector<uint8_t>& others) {
  const ResidualAdd& residual = *spec.residual;
  const Storage storage = spec.requantization.output == Output::kS8 ? Storage::kS8 : Storage::kU8;
  const bool is_signed = residual.output == Output::kS8;
  std::vector<uint8_t> sums;
  for (int64_t i = 0; i < std::ssize(own); ++i) {
    const auto a =
        static_cast<float>(test::ValueAt(own.data(), storage, i) - spec.requantization.zero_point);
    const auto b = static_cast<float>(test::ValueAt(others.data(), residual.addend.storage, i) -
                                      residual.addend.zero_point);
    const float sum = (a * residual.own_scale + b * residual.scale) / residual.result_scale;
    const float value = std::nearbyint(sum) + static_cast<float>(residual.zero_point);
    sums.push_back(static_cast<uint8_t>(static_cast<int>(
        std::clamp(value, is_signed ? -128.0f : 0.0f, is_signed ? 127.0f : 255.0f))));
  }
  return sums;
}

TEST(Int8Conv, AFusedAddHasTheBitsOfASeparateOne) {
  const ResidualAdd residuals[] = {
      {{Storage::kU8, 3}, 0.031f, 0.017f, 0.039f, Output::kU8, 7},
      {{Storage::kS8, -9}, 0.5f, 0.25f, 0.5f, Output::kS8, -3},  // many ties
      {{Storage::kS8, 0}, 0.1f, 3.0f, 0.01f, Output::kU8, 200},  // saturates
  };
  for (const Kind& kind : std::span(test::kKinds).first(4)) {
    for (const ConvShape& s : {Square(12, 80, 9, 3, 1), Square(5, 24, 7, 1, 0),
                               Square(16, 8, 7, 3, 1, 2, 2), Square(4, 64, 13, 1, 0)}) {
      const int64_t taps = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
      const Drawn drawn(kind, s.out_channels, taps);
      ConvSpec spec{.shape = s,
                    .input = kind.input,
                    .weights = drawn.View(kind),
                    .bias = drawn.bias,
                    .requantization = drawn.End(kind)};
      const auto input = test::RandomBytes(s.in_height * s.in_width * s.in_channels, 4);
      const auto own = Naive(spec, input);
      const auto others = test::RandomBytes(std::ssize(own), 9);
      for (const ResidualAdd& residual : residuals) {
        spec.residual = residual;
        const auto want = Added(spec, own, others);
        for (const Isa isa : MachineIsas()) {
          const ScopedIsaLimit limit(isa);
          ThreadPool pool(2);
          std::vector<uint8_t> output(want.size(), 0xee);
          ConvPlan::Prepare(spec)->Run(input.data(), others.data(), output.data(), pool);
          ASSERT_EQ(output, want) << Describe(s, kind, isa, 2);
        }
      }
    }
  }
}

// Pixel p has the value p in all channels; channel c adds c to it.
TEST(Int8Conv, AFusedAddHasTheRightBitsForEveryPairOfOperands) {
  constexpr int64_t kValues = 256;
  const std::vector<int8_t> ones(kValues, 1);
  const float one[] = {1};
  std::vector<uint8_t> all(kValues), own, others;
  std::iota(all.begin(), all.end(), 0);
  for (const uint8_t value : all) {
    own.insert(own.end(), kValues, value);
    others.insert(others.end(), all.begin(), all.end());
  }
  std::mt19937 random(5);
  const auto draw = [&] { return std::exp2(static_cast<float>(random() % 6000) / 1000 - 7); };
  for (int i = 0; i < 60; ++i) {
    const auto zero = static_cast<int32_t>(random() % 256);
    ResidualAdd residual{{Storage::kU8, zero}, draw(), draw(), draw(), Output::kU8, 255 - zero};
    if (i % 4 == 1) residual.scale = 3 * residual.own_scale;  // ties decided by rounding
    if (i % 4 == 1) residual.result_scale = 2 * residual.own_scale;
    if (i % 4 == 2) residual.output = Output::kS8, residual.zero_point = zero / 2;
    const ConvSpec spec{
        .shape = {.in_channels = 1, .out_channels = kValues, .in_height = kValues, .in_width = 1},
        .input = {Storage::kU8, zero},
        .weights = {ones.data()},
        .requantization = {Output::kU8, one, zero},
        .residual = residual};
    const auto want = Added(spec, own, others);
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      ThreadPool pool(1);
      std::vector<uint8_t> output(want.size());
      ConvPlan::Prepare(spec)->Run(all.data(), others.data(), output.data(), pool);
      ASSERT_EQ(output, want) << i << " " << IsaName(isa);
    }
  }
}

TEST(Int8Conv, PixelsMayBeSlices) {
  const int8_t weight = 1;
  const float one[] = {1};
  ConvSpec spec{.shape = {.in_channels = 1, .out_channels = 1},
                .weights = {&weight},
                .requantization = {Output::kU8, one},
                .out_stride = 3};
  spec.shape.in_width = 4;
  const std::vector<uint8_t> input = {5, 6, 7, 8};
  std::vector<uint8_t> output(12, 0xee);
  ThreadPool pool(1);
  ConvPlan::Prepare(spec)->Run(input.data(), output.data() + 1, pool);
  EXPECT_EQ(output,
            (std::vector<uint8_t>{0xee, 5, 0xee, 0xee, 6, 0xee, 0xee, 7, 0xee, 0xee, 8, 0xee}));
  spec.shape.out_channels = 4;
  EXPECT_FALSE(ConvPlan::Prepare(spec));
}

TEST(Int8Conv, PanelsOfAnyWidthAndTilesOfAnyHeightGiveTheSameBits) {
  for (const int64_t outs : {7, 16, 24, 33, 48, 80, 96, 144}) {
    for (const int64_t size : {1, 2, 3, 5}) {
      ExpectEqualsNaive(Square(8, outs, size, 1, 0), test::kKinds[outs % 2]);
      ExpectEqualsNaive(Square(3, outs, size, 3, 1, 2), test::kKinds[outs % 5]);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Int8Conv, ManyRowsAndPanelsAreCutAmongThreadsWithoutChange) {
  ExpectEqualsNaive(Square(64, 200, 23, 3, 1), test::kKinds[0]);
  ExpectEqualsNaive(Square(64, 200, 23, 3, 1), test::kKinds[3]);
  ExpectEqualsNaive(Square(512, 192, 3, 3, 1), test::kKinds[1]);
}

TEST(Int8Conv, MultipliersThatOverflowOrVanishSaturateOnTheRightSide) {
  const std::vector<int8_t> weights = {127, -127, 1, 0};
  const std::vector<uint8_t> input = {255};
  for (const float multiplier : {1e30f, 1e9f, 1e-30f}) {
    const float multipliers[] = {multiplier};
    const std::vector<int32_t> bias = {0, 0, -300, 0};
    const ConvSpec spec{.shape = {.in_channels = 1, .out_channels = 4},
                        .weights = {weights.data()},
                        .bias = bias,
                        .requantization = {Output::kU8, multipliers, 100, 10, 250}};
    const auto want = Naive(spec, input);
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      ThreadPool pool(1);
      std::vector<uint8_t> output(4);
      ConvPlan::Prepare(spec)->Run(input.data(), output.data(), pool);
      EXPECT_EQ(output, want) << IsaName(isa) << " " << multiplier;
    }
  }
}

TEST(Int8Conv, AContradictoryDescriptionIsRefusedWithItsNumbers) {
  const std::vector<int8_t> weights(9);
  const float multiplier[] = {1};
  ConvSpec spec{.shape = {.in_channels = 1, .out_channels = 1},
                .weights = {weights.data()},
                .requantization = {Output::kU8, multiplier}};
  ASSERT_TRUE(ConvPlan::Prepare(spec).has_value());
  spec.input.zero_point = -1;
  EXPECT_THAT(ConvPlan::Prepare(spec).error().message, testing::HasSubstr("-1"));
  spec.input.zero_point = 0;
  spec.requantization.highest = 256;
  EXPECT_THAT(ConvPlan::Prepare(spec).error().message, testing::HasSubstr("256"));
  spec.requantization.highest = 255;
  spec.shape.groups = 2;
  EXPECT_EQ(ConvPlan::Prepare(spec).error().code, Code::kInvalidArgument);
}

TEST(FitsInt32, HoldsUpToTheLastSumThatFits) {
  // 255 * 127 * 66311 = 2147481735 leaves 1912 for the bias.
  const std::vector<int8_t> weights(66311, 127);
  const Weights view{weights.data()};
  const auto fits = [&](int32_t bias) {
    return FitsInt32(view, 1, 66311, {}, std::span<const int32_t>(&bias, 1));
  };
  EXPECT_TRUE(fits(1912));
  EXPECT_FALSE(fits(1913));
  EXPECT_FALSE(fits(-1913));
}

}  // namespace
}  // namespace octavo::runtime::int8

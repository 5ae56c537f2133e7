// SPDX-License-Identifier: Apache-2.0
// Integer products, bit for bit against int64 loops, and the layout conversions.
#include "core/runtime/int8/gemm.h"

#include <gtest/gtest.h>

#include "core/base/cpu.h"
#include "core/runtime/int8/layout.h"
#include "tests/core/runtime/int8/oracle.h"

namespace octavo::runtime::int8 {
namespace {

using test::Drawn;
using test::Kind;

struct Sizes {
  int64_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1},    {1, 1000, 64}, {5, 63, 3},    {6, 64, 5},    {7, 65, 4},
                            {13, 17, 63}, {12, 128, 65}, {200, 20, 33}, {31, 130, 256}};

struct Product {
  Sizes sizes;
  Activation a;
  Weights b;
  Layout layout;
  std::span<const int32_t> bias;
  Requantization requantization;
};

std::vector<uint8_t> Naive(const Product& p, const uint8_t* a) {
  std::vector<uint8_t> out;
  for (int64_t m = 0; m < p.sizes.m; ++m) {
    for (int64_t n = 0; n < p.sizes.n; ++n) {
      int64_t sum = test::PerChannel(p.bias, n, 0);
      for (int64_t k = 0; k < p.sizes.k; ++k) {
        const int64_t at = p.layout == Layout::kKn ? k * p.sizes.n + n : n * p.sizes.k + k;
        sum += (test::ValueAt(a, p.a.storage, m * p.sizes.k + k) - p.a.zero_point) *
               (test::ValueAt(p.b.data, p.b.storage, at) - test::PerChannel(p.b.zero_points, n, 0));
      }
      test::AppendFinished(sum, p.requantization, n, out);
    }
  }
  return out;
}

TEST(Int8Gemm, IsTheInt64LoopBitForBitOnEveryIsaAndThreadCount) {
  for (const Sizes& s : kSizes) {
    for (const Kind& kind : test::kKinds) {
      for (const Layout layout : {Layout::kKn, Layout::kNk}) {
        const Drawn drawn(kind, s.n, s.k);
        const GemmSpec spec{.n = s.n,
                            .k = s.k,
                            .input = kind.input,
                            .weights = drawn.View(kind),
                            .layout = layout,
                            .bias = drawn.bias,
                            .requantization = drawn.End(kind)};
        const auto a = test::RandomBytes(s.m * s.k, 8);
        const auto want =
            Naive({s, spec.input, spec.weights, layout, spec.bias, spec.requantization}, a.data());
        for (const Isa isa : MachineIsas()) {
          const ScopedIsaLimit limit(isa);
          const auto plan = GemmPlan::Prepare(spec);
          ASSERT_TRUE(plan.has_value()) << plan.error().message;
          for (const int threads : {1, 2, 3}) {
            ThreadPool pool(threads);
            std::vector<uint8_t> out(want.size(), 0xee);
            plan->Run(a.data(), s.m, out.data(), pool);
            ASSERT_EQ(out, want) << s.m << "x" << s.n << "x" << s.k << " " << kind.name << " "
                                 << IsaName(isa) << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

TEST(Int8MatMul, OfTwoActivationsIsTheInt64LoopAndMayBroadcast) {
  for (const Sizes& s : kSizes) {
    for (const Kind& kind : test::kKinds) {
      if (kind.per_channel) continue;  // an activation has one zero point
      for (const Layout layout : {Layout::kKn, Layout::kNk}) {
        const Drawn drawn(kind, s.n, s.k);
        const MatMulSpec spec{.m = s.m,
                              .n = s.n,
                              .k = s.k,
                              .a = kind.input,
                              .b = {kind.weights, kind.weight_zero},
                              .layout = layout,
                              .requantization = drawn.End(kind)};
        const auto a = test::RandomBytes(3 * s.m * s.k, 8);
        std::vector<uint8_t> want;
        for (int64_t i = 0; i < 3; ++i) {
          const auto item = Naive({s, spec.a, drawn.View(kind), layout, {}, spec.requantization},
                                  a.data() + i * s.m * s.k);
          want.insert(want.end(), item.begin(), item.end());
        }
        const int64_t a_offsets[] = {0, s.m * s.k, 2 * s.m * s.k}, b_offsets[] = {0, 0, 0};
        for (const Isa isa : MachineIsas()) {
          const ScopedIsaLimit limit(isa);
          const auto plan = MatMulPlan::Prepare(spec);
          ASSERT_TRUE(plan.has_value()) << plan.error().message;
          for (const int threads : {1, 2, 8}) {
            ThreadPool pool(threads);
            std::vector<uint8_t> out(want.size(), 0xee);
            plan->Run(a.data(), drawn.weights.data(), out.data(), {3, a_offsets, b_offsets}, pool);
            ASSERT_EQ(out, want) << s.m << "x" << s.n << "x" << s.k << " " << kind.name << " "
                                 << IsaName(isa) << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

TEST(Layout, NchwAndNhwcAreTransposesOfEachOther) {
  for (const int64_t channels : {1, 2, 3, 4, 9, 16, 17, 31, 64, 100}) {
    for (const int64_t pixels : {1, 8, 9, 15, 16, 49, 256, 300, 12345}) {
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const ImageShape shape{.batch = 2, .channels = channels, .pixels = pixels};
        const auto from = test::RandomBytes(2 * channels * pixels, 1);
        std::vector<uint8_t> to(from.size()), back(from.size());
        NchwToNhwc(shape, from.data(), to.data(), pool);
        for (int64_t n = 0; n < 2; ++n) {
          for (int64_t c = 0; c < channels; ++c) {
            for (int64_t p = 0; p < pixels; ++p) {
              ASSERT_EQ(to[(n * pixels + p) * channels + c], from[(n * channels + c) * pixels + p]);
            }
          }
        }
        NhwcToNchw(shape, to.data(), back.data(), pool);
        ASSERT_EQ(back, from);
      }
    }
  }
}

}  // namespace
}  // namespace octavo::runtime::int8

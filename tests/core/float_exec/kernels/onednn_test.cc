// SPDX-License-Identifier: Apache-2.0
// Compares the float kernels with oneDNN, an independent implementation.  It sums in another order,
// so results are equal only within a tolerance.
#if defined(OCTAVO_WITH_DNNL)
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/matmul.h"
#include "tests/core/float_exec/kernels/onednn.h"

namespace octavo::float_exec {
namespace {

std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

// The error bound of a sum of `terms` products of numbers near 1.
float Tolerance(int64_t terms) { return 4e-6f * std::sqrt(static_cast<float>(terms)) + 1e-6f; }

const ConvShape kShapes[] = {
    {.batch = 2, .in_channels = 64, .out_channels = 48, .in_height = 14, .in_width = 14},
    {.in_channels = 32,
     .out_channels = 64,
     .in_height = 15,
     .in_width = 17,
     .kernel_height = 3,
     .kernel_width = 3,
     .pad_top = 1,
     .pad_left = 1,
     .pad_bottom = 1,
     .pad_right = 1},
    {.in_channels = 3,
     .out_channels = 64,
     .in_height = 56,
     .in_width = 56,
     .kernel_height = 7,
     .kernel_width = 7,
     .stride_height = 2,
     .stride_width = 2,
     .pad_top = 3,
     .pad_left = 3,
     .pad_bottom = 3,
     .pad_right = 3},
    {.in_channels = 16,
     .out_channels = 24,
     .groups = 4,
     .in_height = 13,
     .in_width = 11,
     .kernel_height = 3,
     .kernel_width = 5,
     .stride_width = 2,
     .dilation_height = 2,
     .pad_top = 2,
     .pad_left = 1,
     .pad_bottom = 0,
     .pad_right = 3},
    {.in_channels = 40,
     .out_channels = 40,
     .groups = 40,
     .in_height = 20,
     .in_width = 21,
     .kernel_height = 5,
     .kernel_width = 5,
     .stride_height = 2,
     .stride_width = 2,
     .pad_top = 2,
     .pad_left = 2,
     .pad_bottom = 2,
     .pad_right = 2},
};

TEST(Onednn, AgreesWithinToleranceOnConvolutions) {
  for (const ConvShape& s : kShapes) {
    const int64_t terms = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
    const auto x = Random(s.batch * s.in_channels * s.in_height * s.in_width, 1);
    const auto w = Random(s.out_channels * terms, 2), bias = Random(s.out_channels, 3);
    std::vector<float> y(
        static_cast<size_t>(s.batch * s.out_channels * ConvOutHeight(s) * ConvOutWidth(s)));
    ThreadPool pool(2);
    Conv2d(s, x.data(), w.data(), bias.data(), y.data(), pool);
    test::OnednnConv onednn(s, x.data(), w.data(), bias.data());
    onednn.Run();
    const float* want = onednn.Result();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want[i], Tolerance(terms)) << i;
  }
}

TEST(Onednn, AgreesWithinToleranceOnProducts) {
  for (const int64_t k : {1, 64, 777}) {
    const int64_t m = 37, n = 65;
    const auto a = Random(m * k, 1), b = Random(k * n, 2);
    std::vector<float> c(static_cast<size_t>(m * n)), want(c.size());
    ThreadPool pool(2);
    MatMul({a.data(), m, k, k, 1}, MatrixView{b.data(), k, n, n, 1}, c.data(), n, pool);
    test::OnednnMatMul(m, n, k, a.data(), b.data(), want.data());
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], want[i], Tolerance(k)) << i;
  }
}

}  // namespace
}  // namespace octavo::float_exec
#endif

// SPDX-License-Identifier: Apache-2.0
// The float matrix product, bit for bit against the plain triple loop that defines it.
#include "core/float_exec/kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/cpu.h"

namespace octavo::float_exec {
namespace {

std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

float At(const MatrixView& m, int64_t row, int64_t column) {
  return m.data[row * m.row_stride + column * m.column_stride];
}

std::vector<float> Naive(const MatrixView& a, const MatrixView& b, const MatMulBias& bias) {
  std::vector<float> c(static_cast<size_t>(a.rows * b.columns));
  for (int64_t m = 0; m < a.rows; ++m) {
    for (int64_t n = 0; n < b.columns; ++n) {
      float acc = 0;
      for (int64_t k = 0; k < a.columns; ++k) acc = std::fma(At(a, m, k), At(b, k, n), acc);
      if (bias.per_row != nullptr) acc += bias.per_row[m];
      if (bias.per_column != nullptr) acc += bias.per_column[n];
      c[static_cast<size_t>(m * b.columns + n)] = acc;
    }
  }
  return c;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Sizes {
  int64_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1},    {1, 1, 0},     {3, 5, 0},     {1, 1000, 77},
                            {2, 47, 3},   {3, 48, 300},  {5, 49, 257},  {7, 15, 256},
                            {8, 16, 512}, {9, 97, 31},   {17, 33, 513}, {65, 130, 66},
                            {33, 1, 40},  {64, 700, 20}, {9, 50, 1024}};

MatrixView View(const std::vector<float>& data, int64_t rows, int64_t columns, bool transposed) {
  if (transposed) return MatrixView{data.data(), columns, rows, rows, 1}.Transposed();
  return {data.data(), rows, columns, columns, 1};
}

TEST(MatMul, IsTheTripleLoopBitForBitOnEveryIsaAndThreadCount) {
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 2, 3, 8}) {
      ThreadPool pool(threads);
      for (const Sizes& s : kSizes) {
        const auto a = Random(s.m * s.k, 1), b = Random(s.k * s.n, 2), bias = Random(s.n + s.m, 3);
        for (int form = 0; form < 4; ++form) {
          const MatrixView av = View(a, s.m, s.k, (form & 1) != 0);
          const MatrixView bv = View(b, s.k, s.n, (form & 2) != 0);
          const MatMulBias biases{.per_row = form == 0 ? bias.data() : nullptr,
                                  .per_column = form != 3 ? bias.data() : nullptr};
          const auto want = Naive(av, bv, biases);
          std::vector<float> plain(want.size(), NAN), packed(want.size(), NAN);
          MatMul(av, bv, plain.data(), s.n, pool, biases);
          MatMul(av, PackedMatrix(bv), packed.data(), s.n, pool, biases);
          ASSERT_TRUE(SameBits(plain, want)) << IsaName(isa) << " " << threads << " threads, "
                                             << s.m << "x" << s.n << "x" << s.k << " form " << form;
          ASSERT_TRUE(SameBits(packed, want)) << "packed " << IsaName(isa) << " " << s.m << "x"
                                              << s.n << "x" << s.k << " form " << form;
        }
      }
    }
  }
}

TEST(MatMul, RowsOfCMayBeApartAndWhatLiesBetweenIsKept) {
  ThreadPool pool(2);
  const auto a = Random(6 * 7, 1), b = Random(7 * 20, 2);
  const MatrixView av = View(a, 6, 7, false), bv = View(b, 7, 20, false);
  const auto want = Naive(av, bv, {});
  std::vector<float> c(6 * 33, -1);
  MatMul(av, bv, c.data(), 33, pool);
  for (int64_t m = 0; m < 6; ++m) {
    for (int64_t n = 0; n < 33; ++n) {
      EXPECT_EQ(c[m * 33 + n], n < 20 ? want[m * 20 + n] : -1.0f);
    }
  }
}

TEST(MatMul, BatchesMayBroadcastAnOperand) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const auto a = Random(5 * 4 * 9, 1), b = Random(9 * 11, 2);
    std::vector<int64_t> a_offsets, b_offsets(5, 0), c_offsets;
    for (int64_t i = 0; i < 5; ++i) a_offsets.push_back(i * 36), c_offsets.push_back(i * 44);
    const MatrixView av = View(a, 4, 9, false), bv = View(b, 9, 11, false);
    std::vector<float> c(5 * 44);
    MatMulBatched(av, bv, c.data(), 11, {5, a_offsets.data(), b_offsets.data(), c_offsets.data()},
                  pool);
    for (int64_t i = 0; i < 5; ++i) {
      MatrixView item = av;
      item.data += i * 36;
      EXPECT_TRUE(SameBits({c.begin() + i * 44, c.begin() + (i + 1) * 44}, Naive(item, bv, {})));
    }
  }
}

TEST(MatMul, InfinityAndTinyNumbersAreNotLost) {
  ThreadPool pool(1);
  const std::vector<float> a = {1e-40f, 1, -1, 3}, b = {1, 2, INFINITY, -INFINITY, 5, 6, 7, 1e-45f};
  const MatrixView av = View(a, 1, 4, false), bv = View(b, 4, 2, false);
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    std::vector<float> c(2);
    MatMul(av, bv, c.data(), 2, pool);
    EXPECT_TRUE(SameBits(c, Naive(av, bv, {})));
  }
}

}  // namespace
}  // namespace octavo::float_exec

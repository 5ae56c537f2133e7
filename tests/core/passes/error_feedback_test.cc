// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/error_feedback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/cpu.h"
#include "tests/support/column_moments.h"

namespace octavo::passes {
namespace {

constexpr int32_t kLeast = -8, kMost = 7;

// A channel in blocks of 4 weights, and data whose terms are correlated.
struct Problem {
  std::vector<double> second = {};  // the lower triangle
  int64_t columns = 0;
  std::vector<float> weights = {}, scales = {};
  std::vector<int32_t> nearest = {};

  int64_t terms() const { return static_cast<int64_t>(weights.size()); }
  FeedbackProblem Asked() const {
    return {.weights = weights, .scales = scales, .least = kLeast, .most = kMost};
  }
  // H with damping, as the header defines it.
  std::vector<std::vector<double>> Matrix(double damping) const {
    const auto n = weights.size();
    std::vector<std::vector<double>> h(n, std::vector<double>(n));
    double trace = 0;
    for (size_t k = 0; k < n; ++k) {
      for (size_t l = 0; l <= k; ++l) {
        h[k][l] = h[l][k] = second[k * (k + 1) / 2 + l] / static_cast<double>(columns);
      }
      trace += h[k][k];
    }
    for (size_t k = 0; k < n; ++k) h[k][k] += damping * trace / static_cast<double>(n);
    return h;
  }
};

Problem RandomProblem(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto real = [&] { return static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f; };
  const auto terms = static_cast<int64_t>(1 + random() % 40);
  const profile::Layer layer{.terms = terms, .channels = 1};
  test::Columns data;
  for (size_t i = 0; i < 1 + random() % 60; ++i) {
    std::vector<float> column;
    const float shared = real();
    for (int64_t k = 0; k < terms; ++k) {
      column.push_back(k % 7 == 6 ? 0.0f : shared + 0.3f * real() + 0.5f);
    }
    data.push_back(std::move(column));
  }
  const profile::LayerMoments moments = test::MomentsOfColumns(layer, data);
  Problem problem{.second = moments.second[0], .columns = moments.columns};
  float scale = 1;
  for (int64_t k = 0; k < terms; ++k) {
    if (k % 4 == 0) scale = (random() % 2 == 0 ? -1 : 1) * std::ldexp(1.1f + real(), -5);
    if (scale == 0) scale = 1;
    problem.scales.push_back(scale);
    problem.weights.push_back(real() * 8 * scale);
    const double nearest = std::nearbyint(double{problem.weights.back()} / double{scale});
    problem.nearest.push_back(static_cast<int32_t>(std::clamp<double>(nearest, kLeast, kMost)));
  }
  return problem;
}

// GPTQ as it is published: with U, the upper Cholesky factor of the inverse of H.
std::vector<int32_t> Published(const Problem& problem, double damping) {
  const auto n = problem.weights.size();
  std::vector<std::vector<double>> h = problem.Matrix(damping);
  std::vector<std::vector<double>> inverse(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (size_t p = 0; p < n; ++p) {  // Gauss-Jordan
    const double pivot = h[p][p];
    for (size_t c = 0; c < n; ++c) h[p][c] /= pivot, inverse[p][c] /= pivot;
    for (size_t r = 0; r < n; ++r) {
      const double factor = h[r][p];
      if (r == p) continue;
      for (size_t c = 0; c < n; ++c) {
        h[r][c] -= factor * h[p][c];
        inverse[r][c] -= factor * inverse[p][c];
      }
    }
  }
  std::vector<std::vector<double>> u(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) {
      double sum = inverse[i][j];
      for (size_t k = 0; k < i; ++k) sum -= u[k][i] * u[k][j];
      u[i][j] = i == j ? std::sqrt(sum) : sum / u[i][i];
    }
  }
  std::vector<double> w(problem.weights.begin(), problem.weights.end());
  std::vector<int32_t> q(n);
  for (size_t k = 0; k < n; ++k) {
    const double scale = problem.scales[k];
    q[k] = static_cast<int32_t>(std::clamp<double>(std::nearbyint(w[k] / scale), kLeast, kMost));
    const double e = (w[k] - q[k] * scale) / u[k][k];
    for (size_t l = k + 1; l < n; ++l) w[l] -= e * u[k][l];
  }
  return q;
}

double Objective(const Problem& problem, double damping, std::span<const int32_t> q) {
  const auto h = problem.Matrix(damping);
  std::vector<double> r;
  for (size_t k = 0; k < q.size(); ++k) {
    r.push_back(double{problem.weights[k]} - q[k] * double{problem.scales[k]});
  }
  double sum = 0;
  for (size_t k = 0; k < q.size(); ++k) {
    for (size_t l = 0; l < q.size(); ++l) sum += r[k] * h[k][l] * r[l];
  }
  return sum;
}

TEST(ErrorFeedback, IsGptqWhereThatIsBetterThanNearest) {
  int better = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Problem problem = RandomProblem(seed);
    const auto factor = FactorOf(problem.terms(), problem.second, problem.columns);
    ASSERT_TRUE(factor) << seed;
    ASSERT_EQ(factor->damping, kFeedbackDamping) << seed;
    std::vector<int32_t> integers = problem.nearest;
    const FeedbackResult result = FeedBack(*factor, problem.Asked(), integers);
    const std::vector<int32_t> published = Published(problem, factor->damping);
    const double before = Objective(problem, factor->damping, problem.nearest);
    const double after = Objective(problem, factor->damping, integers);
    ASSERT_NEAR(result.before, before, 1e-9 * before + 1e-30) << seed;
    ASSERT_NEAR(result.after, after, 1e-9 * before + 1e-30) << seed;
    ASSERT_LE(result.after, result.before) << seed;
    if (result.changed == 0) {
      ASSERT_EQ(integers, problem.nearest) << seed;
      continue;
    }
    ASSERT_EQ(integers, published) << seed;
    ++better;
  }
  EXPECT_GT(better, 300);
}

// The inputs of a pair are equal: the second weight takes back what the first lost.
TEST(ErrorFeedback, LowersTheObjectiveOnCorrelatedInputs) {
  Problem problem{.second = {1, 1, 1}, .columns = 1};
  problem.weights = {0.4f, 0.4f};
  problem.scales = {1, 1};
  problem.nearest = {0, 0};
  const auto factor = FactorOf(2, problem.second, problem.columns);
  ASSERT_TRUE(factor);
  std::vector<int32_t> integers = problem.nearest;
  const FeedbackResult result = FeedBack(*factor, problem.Asked(), integers);
  EXPECT_EQ(integers, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(result.changed, 1);
  EXPECT_LT(result.after, result.before / 5);
}

TEST(ErrorFeedback, StaysWithinTheTypesIntegers) {
  Problem problem{.second = {1, 1, 1}, .columns = 1};
  problem.weights = {7.4f, 7.4f};
  problem.scales = {1, 1};
  problem.nearest = {7, 7};
  std::vector<int32_t> integers = problem.nearest;
  FeedBack(*FactorOf(2, problem.second, 1), problem.Asked(), integers);
  EXPECT_EQ(integers, problem.nearest);
}

TEST(ErrorFeedback, MomentsThatAreNotDefiniteAreDampedMore) {
  // The eigenvalues are 1 + 1.3 and 1 - 1.3: no moments of data.  A damping of 1 makes it definite.
  const std::vector<double> second = {1, 1.3, 1};
  const auto factor = FactorOf(2, second, 1);
  ASSERT_TRUE(factor);
  EXPECT_EQ(factor->damping, 1);
}

TEST(ErrorFeedback, MomentsOfNothingHaveNoFactor) {
  const auto none = [](std::vector<double> second) { return !FactorOf(2, second, 1); };
  EXPECT_TRUE(none({0, 0, 0}));
  EXPECT_TRUE(none({1, 300, 1}));
  EXPECT_TRUE(none({-1, 0, -1}));
  EXPECT_TRUE(none({NAN, 0, 1}));
  EXPECT_TRUE(none({INFINITY, 0, 1}));
}

TEST(ErrorFeedback, HasTheSameBitsForEveryInstructionSet) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = RandomProblem(seed);
    std::vector<int32_t> expected = problem.nearest;
    FeedbackResult first;
    std::vector<double> rows;
    {
      const ScopedIsaLimit portable(Isa::kPortable);
      const auto factor = FactorOf(problem.terms(), problem.second, problem.columns);
      rows = factor->rows;
      first = FeedBack(*factor, problem.Asked(), expected);
    }
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      const auto factor = FactorOf(problem.terms(), problem.second, problem.columns);
      ASSERT_EQ(factor->rows, rows) << seed << " " << IsaName(isa);
      std::vector<int32_t> integers = problem.nearest;
      const FeedbackResult result = FeedBack(*factor, problem.Asked(), integers);
      ASSERT_EQ(integers, expected) << seed << " " << IsaName(isa);
      ASSERT_EQ(result.before, first.before) << seed << " " << IsaName(isa);
      ASSERT_EQ(result.after, first.after) << seed << " " << IsaName(isa);
    }
  }
}

}  // namespace
}  // namespace octavo::passes

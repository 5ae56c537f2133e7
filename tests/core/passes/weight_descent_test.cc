// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/weight_descent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/cpu.h"
#include "tests/support/column_moments.h"

namespace octavo::passes {
namespace {

struct Problem {
  Curvature curvature = {};
  std::vector<float> weights = {};
  double scale = 1;
  std::vector<int32_t> nearest = {};
  int32_t least = -127, most = 127;

  RoundingResult Solve(std::vector<int32_t>& integers) const {
    integers = nearest;
    return Descend(curvature, {.weights = weights, .scale = scale, .least = least, .most = most},
                   integers);
  }
  double Objective(const std::vector<int32_t>& integers) const {
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      for (size_t l = 0; l < weights.size(); ++l) {
        sum += (integers[k] * scale - double{weights[k]}) *
               curvature.At(static_cast<int64_t>(k), static_cast<int64_t>(l)) *
               (integers[l] * scale - double{weights[l]});
      }
    }
    return sum;
  }
};

Problem RandomProblem(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto real = [&] { return static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f; };
  const auto terms = static_cast<int64_t>(1 + random() % 40);
  const size_t columns = 1 + random() % 60;
  const profile::Layer layer{.terms = terms, .channels = 1};
  // Correlated terms, some of which are zero.
  test::Columns data;
  for (size_t i = 0; i < columns; ++i) {
    std::vector<float> column;
    const float shared = real();
    for (int64_t k = 0; k < terms; ++k) {
      column.push_back(k % 7 == 6 ? 0.0f : shared + 0.3f * real() + 0.5f);
    }
    data.push_back(std::move(column));
  }
  const profile::LayerMoments moments = test::MomentsOfColumns(layer, data);
  Problem problem;
  problem.scale = std::ldexp(1.0, static_cast<int>(random() % 20) - 12) * 1.1;
  problem.curvature = CurvatureOf({.begin = 0, .terms = terms}, moments.first, moments.second[0],
                                  moments.columns, random() % 2 == 0);
  for (int64_t k = 0; k < terms; ++k) {
    problem.weights.push_back(static_cast<float>(real() * 130 * problem.scale));
    const double nearest = std::nearbyint(double{problem.weights.back()} / problem.scale);
    problem.nearest.push_back(static_cast<int32_t>(std::clamp(nearest, -127.0, 127.0)));
  }
  return problem;
}

TEST(WeightDescent, NeverRaisesTheObjectiveAndStaysNear) {
  int64_t changed = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Problem problem = RandomProblem(seed);
    std::vector<int32_t> integers;
    const RoundingResult result = problem.Solve(integers);
    ASSERT_LE(result.after, result.before) << seed;
    if (problem.curvature.zero()) {
      ASSERT_EQ(integers, problem.nearest) << seed;
      continue;
    }
    const double before = problem.Objective(problem.nearest), after = problem.Objective(integers);
    ASSERT_LE(after, before * (1 + 1e-9)) << seed;
    ASSERT_NEAR(result.before, before, 1e-6 * before + 1e-30) << seed;
    ASSERT_NEAR(result.after, after, 1e-6 * before + 1e-30) << seed;
    int64_t differ = 0;
    for (size_t k = 0; k < integers.size(); ++k) {
      ASSERT_LE(std::abs(integers[k] - problem.nearest[k]), kMostSteps) << seed;
      ASSERT_TRUE(integers[k] >= problem.least && integers[k] <= problem.most) << seed;
      differ += integers[k] != problem.nearest[k] ? 1 : 0;
    }
    ASSERT_EQ(differ, result.changed) << seed;
    changed += differ;
  }
  EXPECT_GT(changed, 2000);
}

TEST(WeightDescent, HasTheSameBitsForEveryInstructionSet) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = RandomProblem(seed);
    std::vector<int32_t> expected, integers;
    RoundingResult first;
    {
      const ScopedIsaLimit portable(Isa::kPortable);
      first = problem.Solve(expected);
    }
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      const RoundingResult result = problem.Solve(integers);
      ASSERT_EQ(integers, expected) << seed << " " << IsaName(isa);
      ASSERT_EQ(result.after, first.after) << seed << " " << IsaName(isa);
    }
  }
}

TEST(WeightDescent, ChannelsTogetherAreAsEachAlone) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Problem first = RandomProblem(seed);
    std::vector<std::vector<float>> weights;
    std::vector<RoundingProblem> problems;
    std::vector<std::vector<int32_t>> together, alone;
    for (int i = 0; i < 7; ++i) {
      weights.push_back(first.weights);
      for (float& weight : weights.back()) weight *= 1 - 0.13f * static_cast<float>(i);
      together.emplace_back();
      for (const float weight : weights.back()) {
        const double nearest = std::nearbyint(double{weight} / first.scale);
        together.back().push_back(static_cast<int32_t>(std::clamp(nearest, -127.0, 127.0)));
      }
    }
    alone = together;
    for (const auto& each : weights) {
      problems.push_back({.weights = each, .scale = first.scale, .least = -127, .most = 127});
    }
    const auto results = DescendTogether(first.curvature, problems, together);
    for (size_t i = 0; i < problems.size(); ++i) {
      const RoundingResult result = Descend(first.curvature, problems[i], alone[i]);
      ASSERT_EQ(together[i], alone[i]) << seed << ", " << i;
      ASSERT_EQ(results[i].after, result.after) << seed << ", " << i;
    }
  }
}

// Data that are always equal: the integers of two weights make up for each other.
TEST(WeightDescent, LetsErrorsCancel) {
  Problem problem{.weights = {10.4f, 10.4f}, .scale = 1, .nearest = {10, 10}};
  const profile::LayerMoments moments =
      test::MomentsOfColumns({.terms = 2, .channels = 1}, {{1, 1}, {-1, -1}, {3, 3}});
  problem.curvature = CurvatureOf({.begin = 0, .terms = 2}, moments.first, moments.second[0], 3,
                                  /*centred=*/true);
  std::vector<int32_t> integers;
  const RoundingResult result = problem.Solve(integers);
  EXPECT_EQ(integers, (std::vector<int32_t>{11, 10}));
  EXPECT_EQ(result.changed, 1);
}

TEST(WeightDescent, ConstantDataChangeNothing) {
  const profile::LayerMoments moments =
      test::MomentsOfColumns({.terms = 2, .channels = 1}, {{1, 2}, {1, 2}, {1, 2}});
  EXPECT_TRUE(
      CurvatureOf({.begin = 0, .terms = 2}, moments.first, moments.second[0], 3, true).zero());
  EXPECT_FALSE(
      CurvatureOf({.begin = 0, .terms = 2}, moments.first, moments.second[0], 3, false).zero());
}

TEST(WeightDescent, ZeroWeightsStayZero) {
  Problem problem = RandomProblem(1);
  problem.weights.assign(problem.weights.size(), 0.0f);
  problem.nearest.assign(problem.nearest.size(), 0);
  std::vector<int32_t> integers;
  EXPECT_EQ(problem.Solve(integers).changed, 0);
  EXPECT_EQ(integers, problem.nearest);
}

}  // namespace
}  // namespace octavo::passes

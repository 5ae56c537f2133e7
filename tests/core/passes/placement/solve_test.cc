// SPDX-License-Identifier: Apache-2.0
// Compares every solver with all states that the rules reach, on thousands of small random regions.
#include "core/passes/placement/solve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/passes/placement/random_region.h"
#include "tests/support/sanitized.h"

namespace octavo::passes::placement {
namespace {

constexpr int kRegions = test::kSanitized ? 150 : 2000;
constexpr int kMovers = 4;

// The cost without the count of moves, which the search over all states does not track.
Cost Without(const std::optional<Cost>& cost) {
  if (!cost) return {kForbidden, kForbidden, 0};
  return {cost->elements, cost->rescales, 0};
}

bool HasShortcuts(const Problem& problem) {
  return std::ranges::any_of(problem.values,
                             [](const Value& value) { return placement::HasShortcuts(value); });
}

TEST(Placement, IsTheBestOfAllStates) {
  std::mt19937 random(1);
  int bettered = 0;
  for (int i = 0; i < kRegions; ++i) {
    const RandomRegion made = MakeRandomRegion(random, kMovers);
    const Problem problem = BuildProblem(made.region, made.allowed.AsAllowedMoves()).problem;
    const Solution solution = Solve(problem);
    const Cost best = BestOfAllStates(made.region, made.allowed);
    ASSERT_EQ(Without(CostOf(problem, solution.positions)), best) << "region " << i;
    for (const Part& part : solution.parts) ASSERT_TRUE(IsExact(part.method));
    bettered += best < Without(CostOf(problem, Positions(problem.sites.size(), 0)));
  }
  // The test would prove little if too few regions could be improved.
  EXPECT_GT(bettered, kRegions / 4);
}

TEST(Placement, ThePlacementOfTheGraphIsAlwaysValid) {
  std::mt19937 random(2);
  for (int i = 0; i < kRegions; ++i) {
    const RandomRegion made = MakeRandomRegion(random, kMovers);
    const Problem problem = BuildProblem(made.region, made.allowed.AsAllowedMoves()).problem;
    ASSERT_TRUE(CostOf(problem, Positions(problem.sites.size(), 0))) << "region " << i;
  }
}

TEST(Placement, MinimumCutIsExactWithoutShortcuts) {
  std::mt19937 random(3);
  int met = 0;
  for (int i = 0; i < kRegions; ++i) {
    const RandomRegion made = MakeRandomRegion(random, kMovers);
    const Problem problem = BuildProblem(made.region, made.allowed.AsAllowedMoves()).problem;
    const Positions cut = SolveByMinCut(problem);
    const Positions exact = *SolveBySearch(problem, Positions(problem.sites.size(), 0));
    ASSERT_LE(CostOf(problem, exact), CostOf(problem, cut)) << "region " << i;
    if (HasShortcuts(problem)) continue;
    ASSERT_EQ(CostOf(problem, cut), CostOf(problem, exact)) << "region " << i;
    ++met;
  }
  EXPECT_GT(met, kRegions / 4);
}

TEST(Placement, EliminationAndSearchAgree) {
  std::mt19937 random(4);
  int met = 0;
  for (int i = 0; i < kRegions; ++i) {
    const RandomRegion made = MakeRandomRegion(random, kMovers + 1);
    const Problem problem = BuildProblem(made.region, made.allowed.AsAllowedMoves()).problem;
    const Positions here(problem.sites.size(), 0);
    const std::optional<Positions> eliminated = SolveByElimination(problem);
    const std::optional<Positions> searched = SolveBySearch(problem, here, 1 << 20);
    if (!eliminated || !searched) continue;  // the region is too large for one of them
    ASSERT_EQ(CostOf(problem, *eliminated), CostOf(problem, *searched)) << "region " << i;
    ++met;
  }
  EXPECT_GT(met, kRegions * 9 / 10);
}

TEST(Placement, ImprovementNeverMakesWorse) {
  std::mt19937 random(5);
  for (int i = 0; i < kRegions; ++i) {
    const RandomRegion made = MakeRandomRegion(random, kMovers + 4);
    const Problem problem = BuildProblem(made.region, made.allowed.AsAllowedMoves()).problem;
    const Positions here(problem.sites.size(), 0);
    const Positions improved = Improve(problem, here);
    ASSERT_LE(CostOf(problem, improved), CostOf(problem, here)) << "region " << i;
  }
}

// Two consumers of a smaller value need one label.  A single Rescale above serves both, so it stays
// there.
Problem TwoConsumers(int64_t above, int64_t below) {
  Region region;
  region.actors = {{Actor::Kind::kProducer, 0},
                   {Actor::Kind::kMover, 1},
                   {Actor::Kind::kMover, 1},
                   {Actor::Kind::kConsumer, 1},
                   {Actor::Kind::kConsumer, 1}};
  region.items = {{above, 0, {{1, {1}}, {2, {1}}}}, {below, 1, {{3, {}}}}, {below, 2, {{4, {}}}}};
  const auto always = [](int, int, int) { return true; };
  return BuildProblem(region, {.may_sink = always, .may_hoist = always}).problem;
}

TEST(Placement, OneRescaleServesAllConsumersThatNeedItsLabel) {
  const Solution solution = Solve(TwoConsumers(10, 6));
  EXPECT_EQ(solution.positions, Positions(5, 0));
  EXPECT_EQ(CostOf(TwoConsumers(10, 6), solution.positions), (Cost{10, 1, 0}));
}

TEST(Placement, TwoSmallRescalesAreCheaperThanOneThatIsLarger) {
  const Solution solution = Solve(TwoConsumers(13, 6));
  EXPECT_EQ(CostOf(TwoConsumers(13, 6), solution.positions), (Cost{12, 2, 2}));
}

TEST(Placement, RescalesOfEvaluatedValuesCostNothing) {
  Region region;
  region.actors = {{Actor::Kind::kProducer, 0},
                   {Actor::Kind::kProducer, 0},
                   {Actor::Kind::kMover, 0},
                   {Actor::Kind::kConsumer, 1}};
  // 8 computed elements and 32 constant ones, concatenated and rescaled.
  region.items = {{8, 0, {{2, {}}}}, {32, 1, {{2, {}}}, true}, {40, 2, {{3, {1}}}}};
  const auto always = [](int, int, int) { return true; };
  const Problem problem = BuildProblem(region, {.may_sink = always, .may_hoist = always}).problem;
  EXPECT_EQ(CostOf(problem, Solve(problem).positions), (Cost{8, 1, 1}));
}

TEST(Placement, ATieGoesToFewerRescales) {
  EXPECT_EQ(Solve(TwoConsumers(12, 6)).positions, Positions(5, 0));
}

TEST(Placement, ASearchThatIsCutOffHasNoAnswer) {
  EXPECT_EQ(SolveBySearch(TwoConsumers(13, 6), Positions(5, 0), 2), std::nullopt);
}

TEST(Placement, AnEliminationWithTooLargeATableHasNoAnswer) {
  EXPECT_EQ(SolveByElimination(TwoConsumers(13, 6), 2), std::nullopt);
}

}  // namespace
}  // namespace octavo::passes::placement

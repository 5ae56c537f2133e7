// SPDX-License-Identifier: Apache-2.0
// Runs every pass on random graphs.  A failure prints the seed, the pass, and the smallest graph
// found that still fails; OCTAVO_SEED=N runs only that seed.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "core/ir/verify.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "core/text/print.h"
#include "tests/core/properties/check_pass.h"
#include "tests/core/properties/dice.h"
#include "tests/core/properties/random_graph.h"
#include "tests/support/random_inputs.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

using ir::Graph;
using passes::Effect;
using passes::Pass;
using passes::Settings;

constexpr uint64_t kQuantizedGraphs = kSanitized ? 60 : 1250;  // per case
constexpr uint64_t kFloatGraphs = kSanitized ? 15 : 250;
constexpr unsigned kSecondsForOne = 30;

// The name of the running pass: if it never ends, only the alarm can report it.
std::array<char, 64> running = {};
void OnAlarm(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, running.data(), running.size());
  _exit(1);
}
void Watch(uint64_t seed) {
  running.fill(' ');
  fmt::format_to_n(running.data(), running.size() - 1, "seed {} does not end", seed);
  running.back() = '\n';
  signal(SIGALRM, &OnAlarm);
  alarm(kSanitized ? 10 * kSecondsForOne : kSecondsForOne);
}

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

ThreadPool& OneThread() {
  static ThreadPool pool(1);
  return pool;
}

Settings DrawSettings(uint64_t seed) {
  Dice dice(seed ^ 0x5e771465);
  Settings settings;
  settings.target = *target::BuiltIn("cpu-int8");
  settings.pool = &OneThread();
  static const std::vector<Effect> kLimits = {Effect::kExact,          Effect::kFewerRoundings,
                                              Effect::kFewerRoundings, Effect::kFewerRoundings,
                                              Effect::kFewerClamps,    Effect::kNewParameters};
  settings.limit = dice.Pick(kLimits);
  settings.target.fully_quantized = dice.Chance(10);
  settings.options.sink_quantize = dice.Chance(10);
  settings.options.integer_io = dice.Chance(10);
  settings.options.leave_integers = dice.Chance(10);
  settings.options.own_parameters = dice.Chance(10);
  return settings;
}

// On failure returns the seed, the options and a small graph.
testing::AssertionResult Checked(const Pass& pass, const Settings& settings, uint64_t seed,
                                 Graph& graph) {
  const Graph before = graph;
  const Status status = CheckPass(pass, settings, seed, graph);
  if (status) return testing::AssertionSuccess();
  const Property holds = [&](const Graph& part) {
    Graph copy = part;
    return CheckPass(pass, settings, seed, copy);
  };
  const Graph small = Minimize(before, holds);
  const Status smallest = holds(small);
  Graph after = small;
  passes::Findings findings;
  const Pass* pipeline[] = {&pass};
  const auto ran = passes::RunPipeline(pipeline, {}, settings, after, findings);
  std::string applied;
  for (const passes::LedgerEntry& entry : findings.ledger) {
    applied += fmt::format(" {}({}, {})", entry.rule, Name(entry.effect), entry.node);
  }
  return testing::AssertionFailure() << fmt::format(
             "seed {}, pass {}, limit {}{}{}{}{}: {}\n{}becomes{}\n{}applied:{}", seed, pass.name,
             Name(settings.limit), settings.options.integer_io ? ", integer_io" : "",
             settings.options.sink_quantize ? ", sink_quantize" : "",
             settings.options.leave_integers ? ", leave_integers" : "",
             settings.target.fully_quantized ? ", fully_quantized" : "",
             smallest ? status.error().message : smallest.error().message,
             text::Print(small, {.literal_elements = 64, .old_names = false}),
             ran ? "" : " an error",
             text::Print(after, {.literal_elements = 64, .old_names = false}), applied);
}

// Runs the passes in the pipeline's order, in another order, or each on the original graph.
testing::AssertionResult QuantizedGraphHolds(uint64_t seed) {
  Watch(seed);
  Graph graph = RandomQuantizedGraph(seed);
  if (const Status status = ir::Verify(graph); !status) {
    return testing::AssertionFailure() << fmt::format("seed {}: made a wrong graph: {}\n{}", seed,
                                                      status.error().message, text::Print(graph));
  }
  const Settings settings = DrawSettings(seed);
  std::vector<const Pass*> order(passes::AllPasses().begin(), passes::AllPasses().end());
  Dice dice(seed + 77);
  if (dice.Chance(25)) {
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[dice.Below(static_cast<int64_t>(i))]);
    }
  }
  const bool alone = dice.Chance(25);
  const Graph made = graph;
  for (const Pass* pass : order) {
    if (alone) graph = made;
    if (auto checked = Checked(*pass, settings, seed, graph); !checked) return checked;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult FloatGraphHolds(uint64_t seed) {
  Watch(seed);
  Graph graph = RandomFloatGraph(seed);
  if (const Status status = ir::Verify(graph); !status) {
    return testing::AssertionFailure() << fmt::format("seed {}: made a wrong graph: {}\n{}", seed,
                                                      status.error().message, text::Print(graph));
  }
  Settings settings = DrawSettings(seed);
  std::optional<profile::Profile> profile;
  for (const Pass* pass : passes::AllPasses()) {
    if (pass->name == "lower") {
      const auto collected =
          profile::Collect(graph, {RandomInputs(graph, seed), RandomInputs(graph, seed + 1)},
                           {.samples = 2}, OneThread(), {});
      if (!collected) return testing::AssertionFailure() << seed << collected.error().message;
      profile = *collected;
      settings.profile = &*profile;
    }
    if (auto checked = Checked(*pass, settings, seed, graph); !checked) return checked;
  }
  return testing::AssertionSuccess();
}

using Holds = testing::AssertionResult (*)(uint64_t seed);
void RunCase(Holds holds, uint64_t index, uint64_t count) {
  if (std::getenv("OCTAVO_SEED") != nullptr) {
    EXPECT_TRUE(holds(FromEnvironment("OCTAVO_SEED", 0)));
    return;
  }
  count = FromEnvironment("OCTAVO_GRAPHS", count);
  for (uint64_t seed = index * count; seed < (index + 1) * count && !testing::Test::HasFailure();
       ++seed) {
    EXPECT_TRUE(holds(seed));
  }
  alarm(0);
}

class EveryPass : public testing::TestWithParam<int> {};

TEST_P(EveryPass, DoesToQuantizedGraphsWhatItsRulesSay) {
  RunCase(&QuantizedGraphHolds, GetParam(), kQuantizedGraphs);
}
INSTANTIATE_TEST_SUITE_P(Seeds, EveryPass, testing::Range(0, 8));

class Pipeline : public testing::TestWithParam<int> {};

TEST_P(Pipeline, DoesToFloatGraphsWhatItsRulesSay) {
  RunCase(&FloatGraphHolds, GetParam(), kFloatGraphs);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Pipeline, testing::Range(0, 4));

TEST(RandomGraphs, AreTheSameForTheSameSeed) {
  EXPECT_EQ(text::Print(RandomQuantizedGraph(5)), text::Print(RandomQuantizedGraph(5)));
  EXPECT_NE(text::Print(RandomQuantizedGraph(5)), text::Print(RandomQuantizedGraph(6)));
  EXPECT_EQ(text::Print(RandomFloatGraph(5)), text::Print(RandomFloatGraph(5)));
}

}  // namespace
}  // namespace octavo::test

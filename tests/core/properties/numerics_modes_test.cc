// SPDX-License-Identifier: Apache-2.0
// Rules of effect `exact` keep every bit in every numerics mode: random quantized graphs run in the
// arithmetic of a mode, before and after all passes under the limit `exact`.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/numerics/mode_table.h"
#include "core/passes/passes.h"
#include "core/text/print.h"
#include "tests/core/properties/random_graph.h"
#include "tests/core/properties/run_values.h"
#include "tests/support/random_inputs.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

using ir::Graph;

constexpr uint64_t kGraphs = kSanitized ? 40 : 1000;  // per mode

class EveryMode : public testing::TestWithParam<const numerics::Mode*> {};

// Succeeds if all outputs have equal bits; `ran` counts the graphs that the mode defines.
testing::AssertionResult KeepsBits(const numerics::Mode& mode, uint64_t seed, int64_t& ran) {
  const Graph before = RandomQuantizedGraph(seed);
  const std::vector<ir::Tensor> inputs = RandomInputs(before, seed);
  const auto was = RunValues::InIntegers(before, inputs, mode);
  if (!was) {
    if (was.error().code == Code::kUnimplemented) return testing::AssertionSuccess();
    return testing::AssertionFailure() << was.error().message;
  }
  ++ran;
  ThreadPool pool(1);
  passes::Settings settings;
  settings.target = *target::BuiltIn("cpu-int8");
  settings.target.numerics = &mode;
  settings.pool = &pool;
  settings.limit = passes::Effect::kExact;
  Graph after = before;
  passes::Findings findings;
  // Rounding a float bias is the job itself, and no rewrite.
  auto pipeline = passes::PassesOf({passes::Phase::kOptimize, passes::Phase::kFinish});
  std::erase_if(pipeline, [](const passes::Pass* pass) { return pass->name == "specialize-bias"; });
  const auto done = passes::RunPipeline(pipeline, {}, settings, after, findings);
  if (!done) return testing::AssertionFailure() << done.error().message;
  const auto is = RunValues::InIntegers(after, inputs, mode);
  if (!is) return testing::AssertionFailure() << is.error().message << text::Print(after);
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const ir::ValueId b = before.outputs()[i], a = after.outputs()[i];
    const double distance = Distance(was->real_values(b), is->real_values(a));
    if (distance == 0) continue;
    std::string applied;
    for (const auto& entry : findings.ledger) {
      applied += fmt::format(" {}({})", entry.rule, entry.node);
    }
    return testing::AssertionFailure() << fmt::format(
               "seed {}, mode {}: '{}' moved by {}\n{}becomes\n{}applied:{}", seed, mode.name,
               before.name(b), distance, text::Print(before), text::Print(after), applied);
  }
  return testing::AssertionSuccess();
}

TEST_P(EveryMode, KeepsBitsUnderTheLimitExact) {
  int64_t ran = 0, differ = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const auto keeps = KeepsBits(*GetParam(), seed, ran);
    if (!keeps && ++differ == 1) ADD_FAILURE() << keeps.message();
  }
  fmt::print("{} of {} graphs are defined in mode {}\n", ran, kGraphs, GetParam()->name);
  EXPECT_EQ(differ, 0);
  // No scale that is drawn is a power of two.
  EXPECT_EQ(ran > 0, GetParam() != &numerics::kPow2);
}
INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         testing::ValuesIn(numerics::AllModes().begin(),
                                           numerics::AllModes().end()),
                         [](const auto& info) {
                           std::string name(info.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace octavo::test

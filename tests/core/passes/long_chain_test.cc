// SPDX-License-Identifier: Apache-2.0
// The time of absorb-rescales grows with the length of a chain of Rescales, not with its square.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "core/ir/graph.h"
#include "core/ops/op_table.h"
#include "core/passes/pass.h"
#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

// Rescales between types of unlike ranges: most of them stay.
ir::Graph Chain(int length) {
  ir::Graph graph;
  const auto type = [](int i) {
    const float scale = 0.5f + 0.05f * static_cast<float>(i * 7 % 11);
    return ir::Type{ir::DType::kU8, {8}, ir::Quant::PerTensor(scale, i * 5 % 200), {}};
  };
  ir::ValueId x = graph.AddInput("x", type(0));
  for (int i = 1; i <= length; ++i) {
    const ir::NodeId id = graph.AddNode({.op = ops::FindOp("Rescale", "octavo"),
                                         .inputs = {x},
                                         .results = {{fmt::format("r{}", i), type(i)}}});
    x = graph.node(id).result();
  }
  graph.AddOutput(x);
  return graph;
}

// Processor seconds of this thread.
double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double TimeOf(int length) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    ir::Graph graph = Chain(length);
    ThreadPool pool(1);
    const Settings settings{.target = *target::BuiltIn("cpu-int8"), .pool = &pool};
    Findings findings;
    const Pass* pipeline[] = {FindPass("absorb-rescales")};
    const double begin = Seconds();
    EXPECT_TRUE(RunPipeline(pipeline, {}, settings, graph, findings));
    least = std::min(least, Seconds() - begin);
    EXPECT_LT(graph.node_count(), length);
  }
  return least;
}

TEST(LongChain, OfRescalesTakesTimeInProportion) {
  const double once = TimeOf(3000), twice = TimeOf(6000);
  EXPECT_LT(twice, 3 * once) << once << " s and " << twice << " s";
}

}  // namespace
}  // namespace octavo::passes

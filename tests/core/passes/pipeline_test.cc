// SPDX-License-Identifier: Apache-2.0
// The pass runner and the pipeline as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/text/parse.h"
#include "core/text/print.h"

namespace octavo::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ir::Graph GraphOf(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? *std::move(graph) : ir::Graph();
}

constexpr std::string_view kNet = R"(graph(%x: tensor<1x1x4x4xf32>) -> (%y) {
  const %w = random(1) : tensor<2x1x3x3xf32>
  const %s = [2, 3] : tensor<2x1x1xf32>
  %c = Conv(%x, %w) : tensor<1x2x2x2xf32>
  %m = Mul(%s, %c) : tensor<1x2x2x2xf32>
  %y = Identity(%m) : tensor<1x2x2x2xf32>
}
)";

struct Job {
  ThreadPool pool{1};
  Settings settings = {.pool = &pool};
  Findings findings = {};
  ir::Graph graph = GraphOf(kNet);

  Result<std::vector<PassRecord>> Run(const RunOptions& options) {
    return RunPipeline(AllPasses(), options, settings, graph, findings);
  }
};

// Passes and kernels would read 8-bit data as floats.
TEST(Pipeline, ConversionsOfTheWrongKindOfValueAreRefused) {
  constexpr std::string_view q = "tensor<4xi8, scale=0.5, zp=0>", f = "tensor<4xf32>";
  const auto complaint = [](std::string_view op, std::string_view from, std::string_view to) {
    const auto graph =
        text::Parse(fmt::format("graph(%x: {}) -> (%y) opset(\"\": 13) {{\n  %y = {}(%x) : {}\n}}",
                                from, op, to),
                    {.find_op = &ops::FindOp});
    return graph ? "none" : graph.error().message;
  };
  EXPECT_EQ(complaint("Quantize", f, q), "none");
  EXPECT_EQ(complaint("Dequantize", q, f), "none");
  EXPECT_EQ(complaint("Rescale", q, q), "none");
  EXPECT_THAT(complaint("Quantize", q, q), HasSubstr("operand 'x' is 4xi8, scale=0.5, zp=0, but"));
  EXPECT_THAT(complaint("Quantize", f, f), HasSubstr("(G10) Quantize 'y': result 'y' is 4xf32"));
  EXPECT_THAT(complaint("Dequantize", f, f), HasSubstr("but must be quantized"));
  EXPECT_THAT(complaint("Dequantize", q, q), HasSubstr("but must not be quantized"));
  EXPECT_THAT(complaint("Rescale", f, q), HasSubstr("(G10) Rescale"));
  EXPECT_THAT(complaint("Rescale", q, f), HasSubstr("(G10) Rescale"));
}

TEST(Pipeline, HasThePassesInTheOrderThatInterfacesName) {
  std::vector<std::string_view> names;
  for (const Pass* pass : AllPasses()) names.push_back(pass->name);
  EXPECT_THAT(names,
              ElementsAre("fold-qdq", "fold-constants", "canonicalize", "fold-batchnorm",
                          "recognize", "lower", "equalize", "quantize", "move-quantize",
                          "absorb-rescales", "place-rescales", "fuse-activations", "remove-noops",
                          "round-weights", "specialize-bias", "merge-constants"));
  EXPECT_EQ(FindPass("lower"), AllPasses()[5]);
  // Each phase is a contiguous part of the pipeline.
  EXPECT_TRUE(std::ranges::is_sorted(AllPasses(), {}, &Pass::phase));
  EXPECT_EQ(FindPass("lowr"), nullptr);
}

TEST(Pipeline, EveryRuleHasAUniqueIdUnderItsPassAndSaysWhatItRewrites) {
  std::set<std::string_view> ids;
  for (const Pass* pass : AllPasses()) {
    EXPECT_FALSE(pass->postcondition.empty()) << pass->name;
    for (const Rule& rule : pass->rules) {
      EXPECT_TRUE(rule.id.starts_with(std::string(pass->name) + "/")) << rule.id;
      EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
      EXPECT_FALSE(rule.pattern.empty() || rule.replacement.empty()) << rule.id;
    }
  }
}

TEST(Pipeline, ARuleOfAnotherPassIsOneThatThatPassDefines) {
  const auto defines = [](const Pass* pass, std::string_view id) {
    return std::ranges::count(pass->rules, id, &Rule::id) == 1;
  };
  for (const Pass* pass : AllPasses()) {
    for (const Rule& rule : pass->also_applies) {
      const Pass* owner = FindPass(rule.id.substr(0, rule.id.find('/')));
      ASSERT_NE(owner, nullptr) << rule.id;
      EXPECT_NE(owner, pass) << rule.id;
      EXPECT_TRUE(defines(owner, rule.id)) << rule.id;
    }
  }
}

TEST(Pipeline, StopsBeforeAPassAndRecordsThoseThatRan) {
  Job job;
  const auto records = job.Run({.stop_before = "recognize"});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->size(), 4u);
  EXPECT_EQ((*records)[2].name, "canonicalize");
  EXPECT_EQ((*records)[2].changed, 2);  // reorders operands, removes the Identity
  EXPECT_EQ((*records)[3].nodes_after, 1);
  EXPECT_EQ(job.findings.ledger.back().rule, "fold-batchnorm/fold-into-producer");
  EXPECT_THAT(text::Print(job.graph), HasSubstr("%y = Conv(%x, %w)"));
  EXPECT_TRUE(job.graph.Knows("c"));
}

TEST(Pipeline, OnlyAndSkipChoosePasses) {
  Job job;
  std::vector<std::string> seen;
  const auto watch = [&](const PassRecord& record, const ir::Graph&) {
    seen.push_back(record.name);
  };
  ASSERT_TRUE(job.Run({.skip = {"canonicalize"},
                       .only = {"canonicalize", "fold-constants", "lower"},
                       .after_pass = watch}));
  EXPECT_THAT(seen, ElementsAre("fold-qdq", "fold-constants", "lower"));
}

TEST(Pipeline, WrongNamesAndForbiddenSkipsAreUsageErrors) {
  Job job;
  EXPECT_THAT(job.Run({.stop_before = "lowr"}).error().message, HasSubstr("unknown pass 'lowr'"));
  EXPECT_EQ(job.Run({.only = {"x"}}).error().code, Code::kUsage);
  const auto skipped = job.Run({.skip = {"merge-constants"}});
  ASSERT_FALSE(skipped);
  EXPECT_EQ(skipped.error().code, Code::kUsage);
  EXPECT_EQ(skipped.error().message, "pass 'merge-constants' cannot be skipped");
  EXPECT_EQ(job.Run({.skip = {"fold-qdq"}}).error().message, "pass 'fold-qdq' cannot be skipped");
}

TEST(Pipeline, AStoppedJobRunsNoFurtherPass) {
  Job job;
  job.settings.stop.RequestStop();
  const auto records = job.Run({});
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().code, Code::kCancelled);
  EXPECT_EQ(text::Print(job.graph), kNet);
}

TEST(Pipeline, ABrokenInvariantNamesThePass) {
  static constexpr Pass kBreaks = {.name = "breaks",
                                   .postcondition = "nothing",
                                   .run = [](ir::Graph& graph, Context&) -> Status {
                                     graph.SetType(graph.Find("y"), {ir::DType::kF32, {7}, {}, {}});
                                     return {};
                                   }};
  Job job;
  const Pass* pipeline[] = {&kBreaks};
  const auto records = RunPipeline(pipeline, {}, job.settings, job.graph, job.findings);
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().code, Code::kInternal);
  EXPECT_THAT(records.error().message, HasSubstr("pass 'breaks' broke an invariant: (G4)"));
}

TEST(Context, LimitsAllowEffectsUpToTheirOwn) {
  ThreadPool pool(1);
  const auto allows = [&](Effect limit, Effect effect) {
    const Settings settings = {.limit = limit, .pool = &pool};
    Findings findings;
    return Context(settings, findings, "test").Allows(effect);
  };
  EXPECT_TRUE(allows(Effect::kExact, Effect::kExact));
  EXPECT_FALSE(allows(Effect::kExact, Effect::kRealExact));
  EXPECT_TRUE(allows(Effect::kFewerRoundings, Effect::kRealExact));
  EXPECT_FALSE(allows(Effect::kFewerRoundings, Effect::kFewerClamps));
  EXPECT_FALSE(allows(Effect::kFewerClamps, Effect::kNewParameters));
}

}  // namespace
}  // namespace octavo::passes

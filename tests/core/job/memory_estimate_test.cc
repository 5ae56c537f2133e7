// SPDX-License-Identifier: Apache-2.0
// The estimate of a job's memory, and its refusal before anything is computed.
#include "core/job/memory_estimate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "core/job/job.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

ir::Graph Parse(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  if (graph) return *std::move(graph);
  ADD_FAILURE() << graph.error().message;
  return {};
}

const target::Target& CpuInt8() {
  static const target::Target target = *target::BuiltIn("cpu-int8");
  return target;
}

MemoryEstimate EstimateRun(const ir::Graph& graph) {
  return EstimateMemory(graph,
                        {.runs = true, .quantizes = true, .batches_held = 1, .target = CpuInt8()});
}

// 1 MiB of floats each.
constexpr std::string_view kChain = R"(graph(%x: tensor<1x262144xf32>) -> (%d) {
  %a = Relu@"a"(%x) : tensor<1x262144xf32>
  %b = Relu@"b"(%a) : tensor<1x262144xf32>
  %c = Relu@"c"(%b) : tensor<1x262144xf32>
  %d = Relu@"d"(%c) : tensor<1x262144xf32>
})";
constexpr std::string_view kFan = R"(graph(%x: tensor<1x262144xf32>) -> (%d) {
  %a = Relu@"a"(%x) : tensor<1x262144xf32>
  %b = Relu@"b"(%x) : tensor<1x262144xf32>
  %c = Relu@"c"(%x) : tensor<1x262144xf32>
  %d = Concat@"d"(%a, %b, %c) {axis=0} : tensor<3x262144xf32>
})";

TEST(MemoryEstimate, ValuesCountWhileTheyAreAlive) {
  const MemoryEstimate chain = EstimateRun(Parse(kChain));
  EXPECT_EQ(chain.float_values, 2 * kMiB) << "an operand and a result";
  EXPECT_EQ(chain.stored_values, 6 * kMiB / 4) << "the input in both forms, and a result";
  const MemoryEstimate fan = EstimateRun(Parse(kFan));
  EXPECT_EQ(fan.float_values, 6 * kMiB) << "three operands and a result";
  EXPECT_EQ(fan.stored_values, 18 * kMiB / 4) << "three operands, and the output in both forms";
}

TEST(MemoryEstimate, WhatStaysFloatCountsInBothForms) {
  MemoryFactors factors{.runs = true, .quantizes = true, .batches_held = 1, .target = CpuInt8()};
  const ir::Graph graph = Parse(kChain);
  const int64_t integers = EstimateMemory(graph, factors).stored_values;
  factors.keeps_floats = true;
  EXPECT_GT(EstimateMemory(graph, factors).stored_values, 2 * integers);
}

TEST(MemoryEstimate, QuantizedValuesAreComputedInFloats) {
  const MemoryEstimate estimate =
      EstimateMemory(Parse(R"(graph(%x: tensor<1x262144xi8, scale=0.5, zp=0>) -> (%a) {
  %a = Relu@"a"(%x) : tensor<1x262144xi8, scale=0.5, zp=0>
})"),
                     {.runs = true, .batches_held = 1, .target = CpuInt8()});
  EXPECT_EQ(estimate.float_values, 2 * kMiB + kMiB / 4);
  EXPECT_EQ(estimate.stored_values, 2 * kMiB / 4);
}

TEST(MemoryEstimate, SamplesCountAsManyAsAreHeld) {
  const ir::Graph graph = Parse(kChain);
  MemoryFactors factors{.runs = true, .batches_held = 10, .target = CpuInt8()};
  const int64_t ten = EstimateMemory(graph, factors).total;
  factors.batches_held = 1;
  EXPECT_EQ(ten - EstimateMemory(graph, factors).total, 9 * kMiB);
}

TEST(MemoryEstimate, WeightsCountTwice) {
  const auto with = [](int64_t rows) {
    return EstimateRun(Parse(fmt::format(R"(graph(%x: tensor<1x{0}xf32>) -> (%y) {{
  const %w = splat(1) : tensor<{0}x1024xf32>
  %y = MatMul(%x, %w) : tensor<1x1024xf32>
}})",
                                         rows)));
  };
  const MemoryEstimate few = with(1024);
  const MemoryEstimate many = with(2048);
  EXPECT_EQ(many.constants - few.constants, 4 * kMiB);
  EXPECT_NEAR(static_cast<double>(many.total - few.total), 8.0 * kMiB, 0.1 * kMiB);
}

TEST(MemoryEstimate, AJobWithoutARunHoldsNoValues) {
  const MemoryEstimate estimate =
      EstimateMemory(Parse(kFan), {.batches_held = 1, .target = CpuInt8()});
  EXPECT_EQ(estimate.float_values, 0);
  EXPECT_EQ(estimate.stored_values, 0);
  EXPECT_EQ(estimate.samples, 0);
}

// Each value may have 2^48 bytes.  A sum that cannot be represented is the largest number.
TEST(MemoryEstimate, HugeSumsSaturate) {
  constexpr int kValues = 33'000;
  std::string text = "graph(%x: tensor<1xf32>) -> (%v0";
  for (int i = 1; i < kValues; ++i) text += fmt::format(", %v{}", i);
  text += ") {\n  const %shape = [70368744177664] : tensor<1xi64>\n";
  for (int i = 0; i < kValues; ++i) {
    text += fmt::format("  %v{} = Expand(%x, %shape) : tensor<70368744177664xf32>\n", i);
  }
  const ir::Graph graph = Parse(text + "}\n");
  const MemoryEstimate estimate = EstimateRun(graph);
  EXPECT_EQ(estimate.total, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(CheckMemory(graph, estimate, int64_t{1} << 62));
}

// ------------------------------------------------------------ refusal

Request OfText(std::string text, int64_t memory_bytes) {
  return {.options = {.threads = 1},
          .model = {.name = "m.graph", .bytes = Blob(std::move(text))},
          .samples = {{.name = "random:1:2", .bytes = Blob(std::string())}},
          .limits = {.memory_bytes = memory_bytes}};
}

// A few hundred bytes that describe 3.2 GiB, in values below the bound of a single one.
std::string Expanding(std::string_view op) {
  std::string text = "graph(%x: tensor<1x1x64x1024xf32>) -> (%y) {\n";
  text += "  const %shape = [16, 128, 64, 1024] : tensor<4xi64>\n";
  text += "  const %repeats = [16, 128, 1, 1] : tensor<4xi64>\n";
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    if (op == "Expand") text += fmt::format("  %{0} = Expand@\"{0}\"(%x, %shape)", name);
    if (op == "Tile") text += fmt::format("  %{0} = Tile@\"{0}\"(%x, %repeats)", name);
    if (op == "ConstantOfShape") text += fmt::format("  %{0} = {1}@\"{0}\"(%shape)", name, op);
    text += " : tensor<16x128x64x1024xf32>\n";
  }
  text += "  %y = Sum@\"y\"(%a, %b, %c, %d, %e, %f) : tensor<16x128x64x1024xf32>\n}\n";
  return text;
}

class ExpandingModel : public testing::TestWithParam<const char*> {};

TEST_P(ExpandingModel, IsRefusedBeforeItRuns) {
  const auto begun = std::chrono::steady_clock::now();
  std::string stages;
  const auto outcome = job::Run(OfText(Expanding(GetParam()), 2048 * kMiB), {},
                                [&](const Progress& p) { stages += fmt::format("{} ", p.stage); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kTooLarge) << outcome.error().message;
  EXPECT_EQ(outcome.error().reason, "JOB_MEMORY") << outcome.error().message;
  EXPECT_EQ(outcome.error().node, "a");
  EXPECT_EQ(stages.find_first_not_of("import "), std::string::npos) << stages;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}
INSTANTIATE_TEST_SUITE_P(Ops, ExpandingModel, testing::Values("Expand", "Tile", "ConstantOfShape"));

TEST(MemoryLimit, NamesTheLargestNodeAndItsBytes) {
  const auto outcome = job::Run(OfText(std::string(kFan), 34 * kMiB), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("Concat 'd' has the largest results, 3145728 bytes"),
            std::string::npos)
      << outcome.error().message;
}

TEST(MemoryLimit, AJobThatFitsRunsAndReportsItsEstimate) {
  int64_t reported = 0;
  int reports = 0;
  const auto outcome =
      job::Run(OfText(std::string(kTinyModel), 256 * kMiB), {}, [&](const Progress& p) {
        if (p.memory_bytes == 0) return;
        EXPECT_EQ(p.stage, "import");
        reported = p.memory_bytes;
        ++reports;
      });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(reports, 1);
  EXPECT_GT(reported, 48 * kMiB);
  EXPECT_LT(reported, 64 * kMiB);
}

}  // namespace
}  // namespace octavo::job

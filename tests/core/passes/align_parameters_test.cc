// SPDX-License-Identifier: Apache-2.0
// Parameters chosen jointly: from histograms, on a target whose Add requires one type, and the
// reason that the report states for a remaining Rescale.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/passes/rescale/quantization_noise.h"
#include "core/text/parse.h"

namespace octavo::passes {
namespace {

using ::testing::HasSubstr;

profile::Histogram HistogramOf(const std::vector<float>& values) {
  profile::Histogram histogram;
  histogram.Add(values);
  return histogram;
}

ir::Type TypeOf(float scale, int32_t zero_point) {
  return {ir::DType::kU8, {4}, ir::Quant::PerTensor(scale, zero_point), {}};
}

TEST(QuantizationError, IsATwelfthOfTheSquaredStepWithinTheType) {
  const profile::Histogram histogram = HistogramOf({-1, 0.5, 1});
  EXPECT_DOUBLE_EQ(QuantizationError(histogram, {-2, 2}, TypeOf(0.5f, 128)), 0.25 / 12);
}

TEST(QuantizationError, IsTheSquaredDistanceBeyondTheType) {
  const profile::Histogram histogram = HistogramOf({-4, -4});
  EXPECT_NEAR(QuantizationError(histogram, {-8, 8}, TypeOf(1, 2)), 4, 0.1);
}

TEST(QuantizationError, LeavesOutWhatWasLimitedBefore) {
  const profile::Histogram histogram = HistogramOf({-4, -4});
  EXPECT_DOUBLE_EQ(QuantizationError(histogram, {0, 8}, TypeOf(0.5f, 0)), 0.25 / 12);
}

struct Job {
  ThreadPool pool{1};
  profile::Profile profile = {};
  Settings settings = {.pool = &pool};
  Findings findings = {};
  ir::Graph graph;

  explicit Job(Effect limit) {
    settings.limit = limit;
    settings.profile = &profile;
  }

  void Sample(const std::string& name, const std::vector<float>& values) {
    const profile::Histogram histogram = HistogramOf(values);
    profile.values[name] = {.min = histogram.min(), .max = histogram.max(), .histogram = histogram};
  }

  // Returns the number of remaining Rescales.
  int Run(std::string_view text) {
    auto parsed = text::Parse(text, {.find_op = &ops::FindOp});
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (!parsed) return -1;
    graph = *std::move(parsed);
    const auto records = RunPipeline(AllPasses(), {.only = {"absorb-rescales", "place-rescales"}},
                                     settings, graph, findings);
    EXPECT_TRUE(records) << records.error().message;
    int count = 0;
    for (const ir::NodeId id : graph.nodes()) count += graph.node(id).op->name == "Rescale";
    return count;
  }

  // The last reason recorded for a node.
  std::string Why(std::string_view node) const {
    std::string why;
    for (const Kept& kept : findings.kept) {
      if (kept.node == node) why = kept.reason;
    }
    return why;
  }
};

// A branch around Sigmoid; the target requires one type for all operands of Add.
constexpr std::string_view kResidual =
    R"(graph(%x: tensor<1x4xf32>, %v: tensor<1x4xf32>) -> (%y, %z) {
  %a = Quantize(%x) : tensor<1x4xu8, scale=0.02, zp=128>
  %b = Quantize(%v) : tensor<1x4xu8, scale=0.022, zp=128>
  %z = Sigmoid(%a) : tensor<1x4xu8, scale=0.00390625, zp=0>
  %a.r = Rescale(%a) : tensor<1x4xu8, scale=0.022, zp=128>
  %c = Add(%a.r, %b) : tensor<1x4xu8, scale=0.022, zp=128>
  %y = Dequantize(%c) : tensor<1x4xf32>
}
)";

// kResidual with the first occurrence of `from` replaced by `to`.
std::string ResidualWith(std::string_view from, std::string_view to) {
  std::string text(kResidual);
  return text.replace(text.find(from), from.size(), to);
}

struct Residual : Job {
  explicit Residual(Effect limit) : Job(limit) {
    settings.target.same_type = {"Add"};
    Sample("x", {-1.2f, -1, 0.5f, 1.2f});
    Sample("v", {-1.3f, -1, 0.5f, 1.4f});
  }
};

TEST(AlignParameters, ResidualAddGetsOneTypeThatServesBothBranches) {
  Residual job(Effect::kNewParameters);
  EXPECT_EQ(job.Run(kResidual), 0);
  const ir::Type& type = job.graph.type(job.graph.Find("a"));
  EXPECT_EQ(type.quant, job.graph.type(job.graph.Find("b")).quant);
  EXPECT_EQ(type.quant, job.graph.type(job.graph.Find("c")).quant);
}

TEST(AlignParameters, ReportSaysThatTheLimitForbidsIt) {
  Residual job(Effect::kFewerClamps);
  EXPECT_EQ(job.Run(kResidual), 1);
  EXPECT_THAT(job.Why("a.r"), HasSubstr("place-rescales/unify-parameters has the effect "
                                        "new-parameters, which exceeds the limit fewer-clamps"));
}

TEST(AlignParameters, ReportSaysHowMuchNoiseItWouldAdd) {
  Residual job(Effect::kNewParameters);
  job.Sample("x", {-0.2f, -0.1f, 0.1f, 0.2f});
  const std::string text = ResidualWith("scale=0.02,", "scale=0.002,");
  EXPECT_EQ(job.Run(text), 1);
  EXPECT_THAT(job.Why("a.r"),
              HasSubstr("shared parameters would multiply the noise of all consumers"));
}

TEST(AlignParameters, ReportSaysWhichHistogramIsMissing) {
  Residual job(Effect::kNewParameters);
  job.profile.values.erase("v");
  EXPECT_EQ(job.Run(kResidual), 1);
  EXPECT_THAT(job.Why("a.r"), HasSubstr("without a histogram of 'b'"));
}

TEST(AlignParameters, ReportSaysThatATypeLimitsLikeAClip) {
  Residual job(Effect::kNewParameters);
  const std::string text = ResidualWith("scale=0.02, zp=128", "scale=0.004, zp=128");
  EXPECT_EQ(job.Run(text), 1);
  EXPECT_THAT(job.Why("a.r"), HasSubstr("the range of 'a' clips its values from below"));
}

TEST(AlignParameters, ReportSaysThatATypeMayBeAnImplicitRelu) {
  Residual job(Effect::kNewParameters);
  const std::string text = ResidualWith("scale=0.02, zp=128", "scale=0.02, zp=0");
  EXPECT_EQ(job.Run(text), 1);
  EXPECT_THAT(job.Why("a.r"),
              HasSubstr("the range of 'a' ends at zero, so it may act as an implicit Relu"));
}

TEST(AlignParameters, WithoutAProfileTypesSayWhatValuesAre) {
  Residual job(Effect::kNewParameters);
  job.settings.profile = nullptr;
  EXPECT_EQ(job.Run(kResidual), 0);
  EXPECT_EQ(
      std::ranges::count(job.findings.ledger, "place-rescales/unify-parameters-without-profile",
                         &LedgerEntry::rule),
      1);
  Residual within(Effect::kFewerClamps);
  within.settings.profile = nullptr;
  EXPECT_EQ(within.Run(kResidual), 1);
  EXPECT_THAT(within.Why("a.r"), HasSubstr("; place-rescales/unify-parameters-without-profile "
                                           "has the effect new-parameters"));
}

TEST(AlignParameters, AProvenRangeSaysMoreThanTheType) {
  // Only a quarter of a's values can occur, so a type for that quarter has a finer scale.
  constexpr std::string_view kText = R"(
graph(%x: tensor<1x4xf32>, %v: tensor<1x4xf32>) -> (%y, %z, %u) {
  %a = Quantize(%x) : tensor<1x4xu8, scale=0.04, zp=128RANGE>
  %b = Quantize(%v) : tensor<1x4xu8, scale=0.01, zp=128>
  %z = Sigmoid(%a) : tensor<1x4xu8, scale=0.00390625, zp=0>
  %u = Sigmoid(%b) : tensor<1x4xu8, scale=0.00390625, zp=0>
  %a.r = Rescale(%a) : tensor<1x4xu8, scale=0.01, zp=128>
  %c = Concat(%a.r, %b) {axis=1} : tensor<1x8xu8, scale=0.01, zp=128>
  %y = Dequantize(%c) : tensor<1x8xf32>
}
)";
  for (const std::string_view range : {", range=[-1.2, 1.2]", ""}) {
    std::string text(kText);
    text.replace(text.find("RANGE"), 5, range);
    Job job(Effect::kNewParameters);
    job.settings.profile = nullptr;
    EXPECT_EQ(job.Run(text), range.empty() ? 1 : 0) << job.Why("a.r");
  }
}

}  // namespace
}  // namespace octavo::passes

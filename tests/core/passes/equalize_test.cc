// SPDX-License-Identifier: Apache-2.0
// The pass `equalize` on random networks: float results keep their bits, and the ranges that it
// derives are those that calibration measures afterwards.
#include <gtest/gtest.h>

#include <random>

#include "core/ops/op_table.h"
#include "core/passes/equalize/channel_classes.h"
#include "core/passes/equalize/factors.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_graph.h"

namespace octavo::passes {
namespace {

ir::Graph Parse(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message) << "\n" << text;
  return graph.value_or(ir::Graph());
}

// Networks of layers with everything between them that factors pass or stop at.
class RandomNet {
 public:
  explicit RandomNet(uint64_t seed) : random_(seed) {}

  std::string Text() {
    Conv("x", 4, 8);
    for (int i = 0; i < 8; ++i) Step();
    const std::string last = value_;
    Conv(last, channels_, 3);
    return fmt::format("graph(%x: tensor<1x4x4x4xf32>) -> (%{}) {{\n{}}}\n", value_, text_);
  }

 private:
  uint64_t Below(uint64_t count) { return random_() % count; }
  std::string New() { return fmt::format("v{}", next_++); }
  std::string Type(int channels) const { return fmt::format("tensor<1x{}x4x4xf32>", channels); }

  // A weight whose rows differ in size, so that factors are not all 1.
  void Weight(const std::string& name, int rows, int columns) {
    text_ += fmt::format("  const %{} = [", name);
    for (int i = 0; i < rows * columns; ++i) {
      const double size = std::ldexp(1.0, static_cast<int>(i / columns % 5) - 2);
      const double value = size * (static_cast<double>(Below(2001)) / 1000 - 1);
      text_ += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", value);
    }
    text_ += fmt::format("] : tensor<{}x{}x1x1xf32>\n", rows, columns);
  }

  void Conv(const std::string& x, int from, int to) {
    const std::string y = New();
    Weight(y + "w", to, from);
    text_ += fmt::format("  const %{0}b = random({1}) : tensor<{2}xf32>\n", y, next_, to);
    text_ += fmt::format("  %{0} = Conv(%{1}, %{0}w, %{0}b) : {2}\n", y, x, Type(to));
    value_ = y;
    channels_ = to;
  }

  void Unary(const std::string& op, const std::string& more = "") {
    const std::string y = New();
    text_ += fmt::format("  %{} = {}(%{}{}) : {}\n", y, op, value_, more, Type(channels_));
    value_ = y;
  }

  void Depthwise() {
    const std::string y = New();
    Weight(y + "w", channels_, 1);
    text_ += fmt::format("  %{0} = Conv(%{1}, %{0}w) {{group = {2}}} : {3}\n", y, value_, channels_,
                         Type(channels_));
    value_ = y;
  }

  void Residual() {
    const std::string before = value_;
    Conv(before, channels_, channels_);
    const std::string y = New();
    text_ += fmt::format("  %{} = Add(%{}, %{}) : {}\n", y, before, value_, Type(channels_));
    value_ = y;
  }

  void Branches() {
    const std::string before = value_;
    const int from = channels_;
    Conv(before, from, 4);
    const std::string left = value_;
    Conv(before, from, 4);
    const std::string y = New();
    text_ += fmt::format("  %{} = Concat(%{}, %{}) {{axis = 1}} : {}\n", y, left, value_, Type(8));
    value_ = y;
    channels_ = 8;
  }

  void Shuffle() {
    const std::string y = New();
    const int half = channels_ / 2;
    text_ += fmt::format("  const %{}g = [1, 2, {}, 4, 4] : tensor<5xi64>\n", y, half);
    text_ += fmt::format("  const %{}f = [1, {}, 4, 4] : tensor<4xi64>\n", y, channels_);
    text_ +=
        fmt::format("  %{0}a = Reshape(%{1}, %{0}g) : tensor<1x2x{2}x4x4xf32>\n", y, value_, half);
    text_ += fmt::format(
        "  %{0}t = Transpose(%{0}a) {{perm = [0, 2, 1, 3, 4]}} : tensor<1x{1}x2x4x4xf32>\n", y,
        half);
    text_ += fmt::format("  %{0} = Reshape(%{0}t, %{0}f) : {1}\n", y, Type(channels_));
    value_ = y;
  }

  void Gate() {
    const std::string y = New();
    text_ += fmt::format("  %{0}p = GlobalAveragePool(%{1}) : tensor<1x{2}x1x1xf32>\n", y, value_,
                         channels_);
    text_ += fmt::format("  %{0}s = Sigmoid(%{0}p) : tensor<1x{1}x1x1xf32>\n", y, channels_);
    text_ += fmt::format("  %{0} = Mul(%{1}, %{0}s) : {2}\n", y, value_, Type(channels_));
    value_ = y;
  }

  void Step() {
    switch (Below(9)) {
      case 0:
        return Unary("Relu");
      case 1:
        return Depthwise();
      case 2:
        return Residual();
      case 3:
        return Branches();
      case 4:
        return Shuffle();
      case 5:
        return Gate();
      case 6:
        return Unary("LeakyRelu");
      case 7:
        return Unary("Tanh");
      default:
        return Conv(value_, channels_, 8);
    }
  }

  std::mt19937_64 random_;
  std::string text_, value_;
  int channels_ = 0, next_ = 0;
};

constexpr uint64_t kSamples = 3;

ir::Batches BatchesOf(const ir::Graph& graph) {
  std::vector<std::vector<ir::Tensor>> batches;
  for (uint64_t i = 0; i < kSamples; ++i) batches.push_back(test::RandomInputs(graph, i));
  return ir::Batches(std::move(batches));
}

profile::Profile ProfileOf(const ir::Graph& graph, int threads = 1) {
  ThreadPool pool(threads);
  const std::vector<int> axes = ChannelAxesOf(graph);
  auto profile = profile::Collect(graph, BatchesOf(graph),
                                  {.samples = kSamples, .channel_axes = axes}, pool, {});
  EXPECT_TRUE(profile.has_value());
  return profile.value_or(profile::Profile());
}

struct Equalized {
  ir::Graph graph = {};
  Findings findings = {};
};

Equalized Equalize(const ir::Graph& graph, const profile::Profile& profile) {
  ThreadPool pool(1);
  Settings settings{.profile = &profile, .pool = &pool};
  settings.options.equalize = octavo::Equalize::kOn;
  Equalized result{.graph = graph};
  const Pass* pipeline[] = {&kEqualizePass};
  const auto records = RunPipeline(pipeline, {}, settings, result.graph, result.findings);
  EXPECT_TRUE(records.has_value()) << (records ? "" : records.error().message);
  return result;
}

TEST(Equalize, FloatResultsKeepTheirBits) {
  int64_t changed = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = RandomNet(seed).Text();
    const ir::Graph graph = Parse(text);
    const Equalized after = Equalize(graph, ProfileOf(graph));
    changed += !after.findings.ledger.empty();
    // Also inputs that calibration has not seen.
    for (uint64_t input = 0; input < 5; ++input) {
      const std::vector<ir::Tensor> inputs = test::RandomInputs(graph, input);
      const auto was = test::RunGraph(graph, inputs);
      const auto is = test::RunGraph(after.graph, inputs);
      ASSERT_TRUE(was && is);
      for (const auto& [name, value] : *was) {
        const auto at = is->find(name);
        if (at == is->end()) continue;
        EXPECT_EQ(value.tensor, at->second.tensor) << name << "\n" << text;
      }
      const std::string& output = graph.name(graph.outputs().front());
      EXPECT_EQ(is->count(output), 1u);
    }
  }
  EXPECT_GT(changed, 100);
}

TEST(Equalize, DerivedRangesAreThoseThatCalibrationMeasures) {
  int64_t compared = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ir::Graph graph = Parse(RandomNet(seed).Text());
    const Equalized after = Equalize(graph, ProfileOf(graph));
    const profile::Profile measured = ProfileOf(after.graph);
    for (const auto& [name, range] : after.findings.derived_ranges) {
      const auto at = measured.values.find(name);
      ASSERT_NE(at, measured.values.end()) << name;
      EXPECT_EQ(range.min, at->second.min) << name;
      EXPECT_EQ(range.max, at->second.max) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(Equalize, ResultDoesNotDependOnThreads) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ir::Graph graph = Parse(RandomNet(seed).Text());
    EXPECT_EQ(text::Print(Equalize(graph, ProfileOf(graph, 1)).graph, {}),
              text::Print(Equalize(graph, ProfileOf(graph, 3)).graph, {}));
  }
}

TEST(Equalize, ChangedValuesHaveNewNamesAndOldOnesAreKnown) {
  const ir::Graph graph = Parse(RandomNet(3).Text());
  const Equalized after = Equalize(graph, ProfileOf(graph));
  ASSERT_FALSE(after.findings.ledger.empty());
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const std::string& name = graph.name(ir::ValueId{static_cast<int32_t>(i)});
    EXPECT_TRUE(after.graph.Knows(name)) << name;
  }
  for (const auto& [name, range] : after.findings.derived_ranges) {
    EXPECT_TRUE(after.graph.Find(name)) << name;
    EXPECT_FALSE(graph.Knows(name)) << name;
  }
}

TEST(Factors, AreTheNearestPowersOfTwo) {
  EXPECT_EQ(NearestPowerOfTwo(1), 1);
  EXPECT_EQ(NearestPowerOfTwo(1.41), 1);
  EXPECT_EQ(NearestPowerOfTwo(1.4143), 2);
  EXPECT_EQ(NearestPowerOfTwo(0.26), 0.25);
  EXPECT_EQ(NearestPowerOfTwo(0.36), 0.5);
  EXPECT_EQ(NearestPowerOfTwo(3.9), 4);
}

TEST(Labels, VaryOnlyWhereTheyDiffer) {
  const Labels labels = Labels::Of({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3});
  EXPECT_EQ(labels.shape, (ir::Shape{1, 3, 1}));
  EXPECT_EQ(labels.ids, (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(Expand(labels, {1, 3, 2}), (std::vector<int32_t>{1, 1, 2, 2, 3, 3}));
}

// A movement, a reduction and a window where labels vary along the axis that they combine.
TEST(ChannelClasses, ChannelsThatAreCombinedAreOfOneClass) {
  const ir::Graph graph = Parse(R"(graph(%x: tensor<1x2x4xf32>) -> (%y) {
  const %w = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8] : tensor<4x4xf32>
  const %axes = [2] : tensor<1xi64>
  const %v = [1, 2, 3, 4] : tensor<2x2xf32>
  %m = MatMul(%x, %w) : tensor<1x2x4xf32>
  %r = ReduceMean(%m, %axes) {keepdims = 0} : tensor<1x2xf32>
  %y = MatMul(%r, %v) : tensor<1x2xf32>
})");
  const ChannelClasses classes(graph);
  const Labels& labels = *classes.Of(graph.Find("m"));
  EXPECT_EQ(labels.shape, (ir::Shape{1, 1, 1}));
  EXPECT_TRUE(classes.IsFree(graph.Find("m")));
  EXPECT_FALSE(classes.AxisOf(graph.Find("m")).has_value());
}

}  // namespace
}  // namespace octavo::passes

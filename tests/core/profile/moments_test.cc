// SPDX-License-Identifier: Apache-2.0
#include "core/profile/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "tests/support/column_moments.h"

namespace octavo::profile {
namespace {

ir::Graph Parse(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return graph.value_or(ir::Graph());
}

ir::Graph MatMulOf(int64_t rows, int64_t terms) {
  return Parse(fmt::format(R"(graph(%x: tensor<{0}x{1}xf32>) -> (%y) {{
  const %w = random(1) : tensor<{1}x2xf32>
  %y = MatMul(%x, %w) : tensor<{0}x2xf32>
}})",
                           rows, terms));
}

ir::Tensor RandomTensor(ir::Shape shape, uint64_t seed) {
  ir::Tensor tensor(ir::DType::kF32, std::move(shape));
  std::mt19937_64 random(seed);
  for (float& x : tensor.mutable_values<float>()) {
    x = static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f;
  }
  return tensor;
}

LayerMoments Collect(const ir::Graph& graph, const std::vector<ir::Tensor>& runs, int threads = 1) {
  ThreadPool pool(threads);
  const std::vector<Layer> layers = LayersOf(graph);
  MomentCollector collector(graph, layers, static_cast<int64_t>(runs.size()));
  for (const ir::Tensor& run : runs) collector.Watch(layers.front().data, run, pool);
  auto all = collector.Finish(pool);
  return std::move(all.at(graph.node(layers.front().node).name));
}

TEST(Moments, AreSumsOverColumns) {
  const ir::Graph graph = MatMulOf(300, 37);
  const ir::Tensor x = RandomTensor({300, 37}, 3);
  const LayerMoments moments = Collect(graph, {x});
  ASSERT_EQ(moments.columns, 300);
  EXPECT_EQ(moments.skipped_columns, 0);
  const std::span<const float> values = x.values<float>();
  const std::span<const double> second = moments.Second(0, 0);
  for (size_t k = 0; k < 37; ++k) {
    double first = 0;
    for (size_t row = 0; row < 300; ++row) first += double{values[row * 37 + k]};
    EXPECT_NEAR(moments.first[k], first, 1e-3);
    for (size_t l = 0; l <= k; ++l) {
      double sum = 0;
      for (size_t row = 0; row < 300; ++row) {
        sum += double{values[row * 37 + k]} * double{values[row * 37 + l]};
      }
      EXPECT_NEAR(second[k * (k + 1) / 2 + l], sum, 1e-3) << k << ", " << l;
    }
  }
}

TEST(Moments, HaveTheSameBitsForAnyThreadsAndInstructionSet) {
  for (const int64_t terms : {1, 5, 64, 131, 1500}) {
    const ir::Graph graph = MatMulOf(90, terms);
    const std::vector<ir::Tensor> runs = {
        RandomTensor({90, terms}, 1), RandomTensor({90, terms}, 2), RandomTensor({90, terms}, 3)};
    LayerMoments expected;
    {
      const ScopedIsaLimit portable(Isa::kPortable);
      expected = Collect(graph, runs);
    }
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 2, 5}) {
        EXPECT_EQ(Collect(graph, runs, threads), expected)
            << terms << " terms, " << IsaName(isa) << ", " << threads << " threads";
      }
    }
  }
}

TEST(Moments, TakeAsManyColumnsOfEachRun) {
  const ir::Graph graph = MatMulOf(100, 3);
  std::vector<ir::Tensor> runs;
  for (uint64_t seed = 0; seed < 64; ++seed) runs.push_back(RandomTensor({100, 3}, seed));
  EXPECT_EQ(Collect(graph, runs).columns, kMostColumns);  // 32 of each
  runs.resize(3);
  EXPECT_EQ(Collect(graph, runs).columns, 300);  // there are no more
}

TEST(Moments, SkipColumnsThatAreNotFinite) {
  const ir::Graph graph = MatMulOf(4, 2);
  ir::Tensor x = RandomTensor({4, 2}, 1);
  x.mutable_values<float>()[2] = std::numeric_limits<float>::infinity();
  x.mutable_values<float>()[7] = std::nanf("");
  const LayerMoments moments = Collect(graph, {x});
  EXPECT_EQ(moments.columns, 2);
  EXPECT_EQ(moments.skipped_columns, 2);
  EXPECT_TRUE(std::isfinite(moments.first[0]) && std::isfinite(moments.first[1]));
}

TEST(Moments, BlocksHaveWholeInputChannels) {
  Layer layer{.terms = 2048 * 9, .channels = 1, .unit = 9};
  const std::vector<TermBlock> blocks = BlocksOf(layer);
  int64_t next = 0;
  for (const TermBlock& block : blocks) {
    EXPECT_EQ(block.begin, next);
    EXPECT_EQ(block.begin % 9, 0);
    EXPECT_LE(block.terms, kMostBlockTerms);
    EXPECT_GE(block.terms, kMostBlockTerms * 9 / 10);  // of nearly equal size
    next += block.terms;
  }
  EXPECT_EQ(next, layer.terms);
  layer = {.terms = kMostWholeTerms, .channels = 1, .unit = 1};
  EXPECT_EQ(BlocksOf(layer).size(), 1U);
  layer.terms = kMostWholeTerms + 1;
  EXPECT_EQ(BlocksOf(layer), (std::vector<TermBlock>{{0, 512}, {512, 513}}));
  layer = {.terms = 2048 * 9, .channels = 1, .unit = 9};
  layer.unit = layer.terms;  // one channel of more terms than a block may have
  EXPECT_EQ(BlocksOf(layer).size(), 29U);
  EXPECT_EQ(BlocksOf(layer).front().terms, 635);
}

// Two groups of three input channels, two terms each.
TEST(Moments, DividedAreThoseOfDividedColumns) {
  const ir::Graph graph = MatMulOf(2, 6);
  std::vector<Layer> layers = LayersOf(graph);
  const std::string& node = graph.node(layers[0].node).name;
  const Layer layer{.groups = 2, .terms = 6, .channels = 1, .unit = 2};
  const std::vector<float> divisors = {1, 4, 0.5F, 2, 0.25F, 1};
  const ir::Tensor x = RandomTensor({40, 6}, 5);
  // By group: a column of the test is the same for both.
  std::vector<test::Columns> divided(2);
  test::Columns columns;
  for (size_t row = 0; row < 40; ++row) {
    const auto values = x.values<float>().subspan(row * 6, 6);
    columns.emplace_back(values.begin(), values.end());
    for (size_t group = 0; group < 2; ++group) {
      std::vector<float>& column = divided[group].emplace_back();
      for (size_t k = 0; k < 6; ++k) column.push_back(values[k] / divisors[group * 3 + k / 2]);
    }
  }
  MomentSource::Map all;
  all.emplace(node, test::MomentsOfColumns(layer, columns));
  layers[0] = layer;
  layers[0].node = LayersOf(graph)[0].node;
  auto whole = std::make_shared<MomentSource>(graph, layers, std::move(all), 1, nullptr);
  MomentSource source(whole, {{node, divisors}, {"another", {2}}});
  ASSERT_NE(source.LayerOf(node), nullptr);
  EXPECT_EQ(source.LayerOf("another"), nullptr);
  const auto moments = source.Of(node);
  ASSERT_TRUE(moments && *moments != nullptr);
  for (size_t group = 0; group < 2; ++group) {
    const LayerMoments expected = test::MomentsOfColumns(layer, divided[group]);
    for (size_t k = 0; k < 6; ++k) {
      EXPECT_EQ((*moments)->first[group * 6 + k], expected.first[group * 6 + k]) << k;
    }
    EXPECT_EQ((*moments)->second[group], expected.second[group]);
  }
  // The source is as it was.
  const auto before = whole->Of(node);
  ASSERT_TRUE(before && *before != nullptr);
  EXPECT_EQ(**before, test::MomentsOfColumns(layer, columns));
}

// A layer whose moments do not fit alone has none, and the others come in parts that fit.
TEST(Moments, ArePartedByMemory) {
  Layer large{.groups = 1 << 16, .terms = 1024, .channels = 1, .unit = 1024, .positions = 1};
  EXPECT_FALSE(HasMoments(large));
  Layer half{.groups = 30, .terms = 1024, .channels = 1, .unit = 1024, .positions = 1};
  ASSERT_TRUE(HasMoments(half));
  ASSERT_GT(3 * MomentBytes(half), kMostMomentBytes);
  const std::vector<Layer> layers = {half, large, half, half};
  const size_t first = EndOfPart(layers, 0);
  EXPECT_GE(first, 1u);
  EXPECT_LT(first, layers.size());
  EXPECT_EQ(EndOfPart(layers, layers.size() - 1), layers.size());
}

TEST(MomentSource, CollectsTheNextPartWhenAsked) {
  const ir::Graph graph = Parse(R"(graph(%x: tensor<2x3xf32>) -> (%z) {
  const %w = random(1) : tensor<3x3xf32>
  %y = MatMul(%x, %w) : tensor<2x3xf32>
  %z = MatMul(%y, %w) : tensor<2x3xf32>
})");
  const std::vector<Layer> layers = LayersOf(graph);
  ASSERT_EQ(layers.size(), 2u);
  int reruns = 0;
  MomentSource source(graph, layers, {{"y", {.layer = layers[0], .columns = 1}}}, 1,
                      [&](std::span<const Layer> part) -> Result<MomentSource::Map> {
                        ++reruns;
                        MomentSource::Map all;
                        for (const Layer& layer : part) {
                          all[graph.node(layer.node).name] = {.layer = layer, .columns = 2};
                        }
                        return all;
                      });
  const auto columns = [&](std::string_view node) {
    const auto moments = source.Of(node);
    return moments && *moments != nullptr ? (*moments)->columns : -1;
  };
  EXPECT_EQ(columns("y"), 1);
  EXPECT_EQ(reruns, 0);
  EXPECT_EQ(columns("z"), 2);
  EXPECT_EQ(reruns, 1);
  EXPECT_EQ(columns("z"), 2);
  EXPECT_EQ(reruns, 1);
  EXPECT_EQ(columns("none"), -1);
}

}  // namespace
}  // namespace octavo::profile

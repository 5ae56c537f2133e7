// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collect.h"

#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::profile {
namespace {

ir::Graph MakeGraph() {
  auto graph = text::Parse(R"(graph(%x: tensor<2x3xf32>) -> (%y, %x) {
  const %w = random(1) : tensor<3x4xf32>
  %a = MatMul(%x, %w) : tensor<2x4xf32>
  %y = Relu(%a) : tensor<2x4xf32>
})",
                           {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return graph.value_or(ir::Graph());
}

std::vector<std::vector<ir::Tensor>> Batches(const std::vector<int>& places) {
  std::vector<std::vector<ir::Tensor>> batches;
  for (const int place : places) {
    ir::Tensor x(ir::DType::kF32, {2, 3});
    for (int64_t i = 0; i < x.size(); ++i) {
      x.mutable_values<float>()[static_cast<size_t>(i)] =
          static_cast<float>((i + 1) * (place + 2) * 7 % 23) / 11 - 1;
    }
    batches.push_back({std::move(x)});
  }
  return batches;
}

Profile CollectOf(const ir::Graph& graph, const std::vector<int>& places, Halves* halves) {
  ThreadPool pool(2);
  const std::vector<int> axes(graph.value_bound(), 1);
  auto profile = Collect(
      graph, ir::Batches(Batches(places)),
      {.samples = 2 * static_cast<int64_t>(places.size()), .halves = halves, .channel_axes = axes},
      pool, {});
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().message);
  return profile.value_or(Profile());
}

TEST(Collect, HalvesLeaveTheProfileAsItIs) {
  const ir::Graph graph = MakeGraph();
  const std::vector<int> places = {0, 1, 2, 3, 4, 5, 6};
  Halves halves{.kept_odd = 2};
  EXPECT_EQ(CollectOf(graph, places, &halves), CollectOf(graph, places, nullptr));
  EXPECT_EQ(halves.even, CollectOf(graph, {0, 2, 4, 6}, nullptr));
  // The outputs of the batches 1 and 3.
  ASSERT_EQ(halves.outputs.size(), 2U);
  const Profile odd = CollectOf(graph, {1, 3}, nullptr);
  float most = 0;
  for (const std::vector<ir::Tensor>& outputs : halves.outputs) {
    ASSERT_EQ(outputs.size(), 2U);
    for (const float y : outputs[0].values<float>()) most = std::max(most, y);
  }
  EXPECT_EQ(most, odd.values.at("y").max);
  EXPECT_EQ(halves.outputs[1][1].values<float>()[0],
            Batches({3})[0][0].values<float>()[0]);  // x is an output, too
}

TEST(Collect, OneBatchHasNoOddHalf) {
  const ir::Graph graph = MakeGraph();
  Halves halves{.kept_odd = 2};
  EXPECT_EQ(CollectOf(graph, {5}, &halves), CollectOf(graph, {5}, nullptr));
  EXPECT_EQ(halves.even, CollectOf(graph, {5}, nullptr));
  EXPECT_TRUE(halves.outputs.empty());
}

}  // namespace
}  // namespace octavo::profile

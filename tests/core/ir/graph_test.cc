// SPDX-License-Identifier: Apache-2.0
// Editing a graph keeps names and use lists consistent.
#include "core/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/verify.h"
#include "core/text/print.h"
#include "tests/support/tiny_ops.h"

namespace octavo::ir {
namespace {

using test::FindTinyOp;
using test::TinyGraph;
using ::testing::ElementsAre;

constexpr std::string_view kChain = R"(graph(%x: tensor<2xf32>) -> (%c) {
  %a = Move(%x) : tensor<2xf32>
  %b = Move(%a) : tensor<2xf32>
  %c = Plus(%b, %b) : tensor<2xf32>
}
)";

NodeId ProducerOf(const Graph& graph, std::string_view name) {
  return graph.value(graph.Find(name)).producer;
}

void ExpectGraph(const Graph& graph, std::string_view text) {
  const Status verified = Verify(graph);
  EXPECT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(text::Print(graph), text);
}

TEST(Graph, RedefineKeepsTheResultAndItsConsumers) {
  Graph graph = TinyGraph(kChain);
  graph.Redefine(ProducerOf(graph, "b"), FindTinyOp("Sine", ""), {graph.Find("x")}, {});
  EXPECT_EQ(graph.CountUses(graph.Find("a")), 0);
  EXPECT_EQ(graph.EraseDead(), 1);
  ExpectGraph(graph, R"(graph(%x: tensor<2xf32>) -> (%c) {
  %b = Sine(%x) : tensor<2xf32>
  %c = Plus(%b, %b) : tensor<2xf32>
  retired %a
}
)");
  EXPECT_TRUE(graph.Knows("a"));
  EXPECT_FALSE(graph.Resolve("a"));
  EXPECT_FALSE(graph.Knows("never"));
}

TEST(Graph, ForwardLeavesAnAliasThatFollowsLaterForwards) {
  Graph graph = TinyGraph(kChain);
  graph.Forward(graph.Find("b"), graph.Find("a"));
  EXPECT_EQ(graph.EraseDead(), 1);
  EXPECT_EQ(graph.Resolve("b"), graph.Find("a"));
  graph.Forward(graph.Find("a"), graph.Find("x"));
  EXPECT_EQ(graph.EraseDead(), 1);
  EXPECT_EQ(graph.Resolve("b"), graph.Find("x"));
  ExpectGraph(graph, R"(graph(%x: tensor<2xf32>) -> (%c) {
  %c = Plus(%x, %x) : tensor<2xf32>
  alias %a = %x
  alias %b = %x
}
)");
}

TEST(Graph, DefineAsConstantKeepsTheName) {
  Graph graph = TinyGraph(kChain);
  const ValueId b = graph.Find("b");
  graph.DefineAsConstant(b, MakePayload(Tensor::Of<float>({2}, {1, 2})), graph.type(b));
  graph.EraseDead();
  ExpectGraph(graph, R"(graph(%x: tensor<2xf32>) -> (%c) {
  const %b = [1, 2] : tensor<2xf32>
  %c = Plus(%b, %b) : tensor<2xf32>
  retired %a
}
)");
}

TEST(Graph, DefineAsNodeInsertsBeforeTheFirstConsumer) {
  Graph graph = TinyGraph(R"(graph(%x: tensor<2xf32>) -> (%c) {
    const %w = [1, 2] : tensor<2xf32>
    %a = Move(%x) : tensor<2xf32>
    %b = Plus(%a, %w) : tensor<2xf32>
    %c = Plus(%b, %w) : tensor<2xf32>
  })");
  const ValueId w = graph.Find("w");
  const ValueId inner = graph.AddConstant("w.float", graph.value(w).constant, graph.type(w));
  graph.DefineAsNode(w, {.op = FindTinyOp("Move", ""), .inputs = {inner}});
  ExpectGraph(graph, R"(graph(%x: tensor<2xf32>) -> (%c) {
  const %w.float = [1, 2] : tensor<2xf32>
  %a = Move(%x) : tensor<2xf32>
  %w = Move(%w.float) : tensor<2xf32>
  %b = Plus(%a, %w) : tensor<2xf32>
  %c = Plus(%b, %w) : tensor<2xf32>
}
)");
}

TEST(Graph, EraseDeadSparesOutputsAndNodesWithOneReadResult) {
  Graph graph = TinyGraph(R"(graph(%x: tensor<2xf32>) -> (%a) {
    const %unread = [1] : tensor<1xf32>
    %a, %b = Halves(%x) : tensor<1xf32>, tensor<1xf32>
    %dead = Move(%b) : tensor<1xf32>
    %deader = Move(%dead) : tensor<1xf32>
  })");
  EXPECT_EQ(graph.EraseDead(), 2);
  EXPECT_EQ(graph.node_count(), 1);
  EXPECT_FALSE(graph.Find("unread"));
  EXPECT_TRUE(graph.Find("b"));
}

TEST(Graph, UniqueNamesAvoidErasedNames) {
  Graph graph = TinyGraph(kChain);
  EXPECT_EQ(graph.UniqueName("d"), "d");
  EXPECT_EQ(graph.UniqueName("b"), "b_1");
  graph.Forward(graph.Find("b"), graph.Find("a"));
  graph.EraseDead();
  EXPECT_EQ(graph.UniqueName("b"), "b_1");
}

TEST(Graph, InsertedNodesAreAtTheRequestedPlace) {
  Graph graph = TinyGraph(kChain);
  const Type type = graph.type(graph.Find("x"));
  graph.InsertAfter(
      ProducerOf(graph, "a"),
      {.op = FindTinyOp("Sine", ""), .inputs = {graph.Find("a")}, .results = {{"after", type}}});
  graph.InsertBefore(
      ProducerOf(graph, "a"),
      {.op = FindTinyOp("Sine", ""), .inputs = {graph.Find("x")}, .results = {{"before", type}}});
  std::vector<std::string> order;
  for (const NodeId id : graph.nodes()) order.push_back(graph.node(id).name);
  EXPECT_THAT(order, ElementsAre("before", "a", "after", "b", "c"));
}

TEST(Graph, SortKeepsTheOrderOfNodesThatNeedNotMove) {
  Graph graph = TinyGraph(R"(graph(%x: tensor<2xf32>) -> (%c) {
    %a = Move(%x) : tensor<2xf32>
    %b = Move(%x) : tensor<2xf32>
    %c = Plus(%a, %b) : tensor<2xf32>
    %d = Move(%x) : tensor<2xf32>
  })");
  graph.SetInput(ProducerOf(graph, "a"), 0, graph.Find("d"));
  EXPECT_FALSE(Verify(graph));
  ASSERT_TRUE(graph.Sort());
  std::vector<std::string> order;
  for (const NodeId id : graph.nodes()) order.push_back(graph.node(id).name);
  EXPECT_THAT(order, ElementsAre("b", "d", "a", "c"));
  EXPECT_TRUE(Verify(graph));
}

TEST(Graph, SortNamesANodeOfACycle) {
  Graph graph = TinyGraph(kChain);
  graph.SetInput(ProducerOf(graph, "a"), 0, graph.Find("b"));
  const Status sorted = graph.Sort();
  ASSERT_FALSE(sorted);
  EXPECT_EQ(sorted.error().message, "Move 'a' is part of a cycle");
  EXPECT_EQ(sorted.error().reason, "CYCLE");
  EXPECT_EQ(sorted.error().node, "a");
}

TEST(Graph, AConstantIsComputedBeforeItsFirstConsumer) {
  Graph graph = TinyGraph(R"(graph(%x: tensor<2xf32>) -> (%d) {
    const %k = [1, 2] : tensor<2xf32>
    %a = Move(%x) : tensor<2xf32>
    %b = Plus(%a, %k) : tensor<2xf32>
    %c = Plus(%b, %x) : tensor<2xf32>
    %d = Plus(%c, %k) : tensor<2xf32>
  })");
  const ValueId k = graph.Find("k");
  // The consumer created last now comes first.
  const NodeId early = graph.InsertAfter(
      ProducerOf(graph, "a"),
      {.op = FindTinyOp("Sine", ""), .inputs = {k}, .results = {{"early", graph.type(k)}}});
  const NodeId made =
      graph.DefineAsNode(k, {.op = FindTinyOp("Sine", ""), .inputs = {graph.Find("x")}});
  EXPECT_EQ(graph.node(made).next, early);
  EXPECT_TRUE(Verify(graph));
}

TEST(Graph, ANodeMayHaveTheNameOfAnErasedOne) {
  Graph graph = TinyGraph(kChain);
  graph.Forward(graph.Find("b"), graph.Find("a"));
  graph.EraseDead();
  EXPECT_EQ(graph.UniqueNodeName("b"), "b_1");
  const NodeId again = graph.AddNode({.name = "b",
                                      .op = FindTinyOp("Move", ""),
                                      .inputs = {graph.Find("x")},
                                      .results = {{"e", graph.type(graph.Find("x"))}}});
  EXPECT_EQ(graph.FindNode("b"), again);
  EXPECT_TRUE(Verify(graph));
}

TEST(Graph, AnyChangeClearsVerified) {
  Graph graph = TinyGraph(kChain);
  graph.SetVerified();
  EXPECT_TRUE(Graph(graph).verified());
  EXPECT_EQ(graph.EraseDead(), 0);
  EXPECT_TRUE(graph.verified());
  graph.SetType(graph.Find("x"), graph.type(graph.Find("x")));
  EXPECT_FALSE(graph.verified());
  const auto changes = [&](auto change) {
    graph.SetVerified();
    change();
    return !graph.verified();
  };
  const ValueId x = graph.Find("x");
  EXPECT_TRUE(changes([&] { graph.SetInput(ProducerOf(graph, "b"), 0, x); }));
  EXPECT_TRUE(changes([&] { graph.EraseDead(); }));
  EXPECT_TRUE(changes([&] { graph.AddInput("y", graph.type(x)); }));
  EXPECT_TRUE(changes([&] { graph.AddOutput(graph.Find("b")); }));
  EXPECT_TRUE(changes([&] { EXPECT_TRUE(graph.Sort()); }));
}

TEST(Graph, ACopyIsIndependentOfItsOriginal) {
  const Graph original = TinyGraph(kChain);
  Graph copy = original;
  copy.Forward(copy.Find("b"), copy.Find("x"));
  copy.EraseDead();
  ExpectGraph(original, kChain);
  EXPECT_EQ(copy.node_count(), 1);
}

TEST(Graph, ConsumersAreListedOnceAndOriginsMerge) {
  Graph graph = TinyGraph(kChain);
  EXPECT_THAT(graph.Consumers(graph.Find("b")), ElementsAre(ProducerOf(graph, "c")));
  EXPECT_EQ(graph.CountUses(graph.Find("b")), 2);
  const std::vector<std::string> origin = {"a", "b", "a"};
  graph.AddOrigin(ProducerOf(graph, "c"), origin);
  EXPECT_THAT(graph.node(ProducerOf(graph, "c")).origin, ElementsAre("a", "b"));
}

TEST(Graph, AnOriginThatIsAddedTwiceIsListedOnceInALongListToo) {
  Graph graph = TinyGraph(kChain);
  const NodeId node = ProducerOf(graph, "c");
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("n" + std::to_string(i));
  for (const std::string& name : names) graph.AddOrigin(node, {&name, 1});
  graph.AddOrigin(node, names);
  EXPECT_EQ(graph.node(node).origin, names);
}

}  // namespace
}  // namespace octavo::ir

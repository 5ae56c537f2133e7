// SPDX-License-Identifier: Apache-2.0
// One broken graph per invariant; the message cites the invariant and names the node.
#include "core/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_ops.h"

namespace octavo::ir {
namespace {

using test::FindTinyOp;
using test::TinyGraph;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Type kFour{DType::kF32, {4}, {}, {}};
Type QuantizedType(Shape shape, float scale, DType dtype = DType::kI8) {
  return {dtype, std::move(shape), Quant::PerTensor(scale, 0), {}};
}

Graph Chain() {
  return TinyGraph(R"(graph(%x: tensor<4xf32>) -> (%b) {
    %a = Move(%x) : tensor<4xf32>
    %b = Plus(%a, %a) : tensor<4xf32>
  })");
}

NodeId ProducerOf(const Graph& graph, std::string_view name) {
  return graph.value(graph.Find(name)).producer;
}

std::string Complaint(const Graph& graph) {
  const Status verified = Verify(graph);
  if (verified) return "none";
  EXPECT_EQ(verified.error().code, Code::kInternal);
  return verified.error().message;
}

TEST(Verify, AValidGraphPasses) { EXPECT_EQ(Complaint(Chain()), "none"); }

TEST(Verify, AValueWithManyConsumersPasses) {
  Graph graph = Chain();
  const ValueId x = graph.Find("x");
  for (int i = 0; i < 100; ++i) {
    graph.AddNode(
        {.op = FindTinyOp("Move", ""), .inputs = {x}, .results = {{fmt::format("r{}", i), kFour}}});
  }
  EXPECT_EQ(Complaint(graph), "none");
}

TEST(Verify, G1ReadingAnErasedValue) {
  Graph graph = Chain();
  const ValueId unread = graph.AddConstant("c", Tensor::Of<float>({4}, {1, 2, 3, 4}));
  graph.EraseConstant(unread);
  graph.SetInput(ProducerOf(graph, "a"), 0, unread);
  EXPECT_EQ(Complaint(graph), "(G1) Move 'a': input 0 is 'c', which was erased");
}

TEST(Verify, G1OutputThatIsErased) {
  Graph graph = Chain();
  const ValueId unread = graph.AddConstant("c", Tensor::Of<float>({4}, {1, 2, 3, 4}));
  graph.EraseConstant(unread);
  graph.AddOutput(unread);
  EXPECT_EQ(Complaint(graph), "(G1) output 'c' is not computed");
}

TEST(Verify, G2ReadingBeforeItIsComputed) {
  Graph graph = Chain();
  graph.SetInput(ProducerOf(graph, "a"), 0, graph.Find("b"));
  EXPECT_EQ(Complaint(graph), "(G2) Move 'a': reads 'b' before it is computed");
}

TEST(Verify, G3NamesOfValues) {
  Graph graph = Chain();
  graph.AddConstant("a", Tensor::Of<float>({1}, {1}));
  EXPECT_EQ(Complaint(graph), "(G3) two values are named 'a'");
  Graph nameless = Chain();
  nameless.AddInput("", kFour);
  EXPECT_EQ(Complaint(nameless), "(G3) a value has no name");
}

TEST(Verify, G3NamesOfNodes) {
  Graph graph = Chain();
  graph.AddNode({.name = "a",
                 .op = FindTinyOp("Move", ""),
                 .inputs = {graph.Find("x")},
                 .results = {{"other", kFour}}});
  EXPECT_EQ(Complaint(graph), "(G3) two nodes are named 'a'");
}

TEST(Verify, G4TypesThatTheOpDoesNotMake) {
  Graph graph = Chain();
  graph.SetType(graph.Find("b"), {DType::kF32, {5}, {}, {}});
  EXPECT_EQ(Complaint(graph), "(G4) Plus 'b': result 'b' is 5xf32, but must be 4xf32");
}

TEST(Verify, G4AttributesThatTheOpDoesNotHave) {
  Graph graph = Chain();
  graph.Redefine(ProducerOf(graph, "a"), FindTinyOp("Move", ""), {graph.Find("x")},
                 {{"pads", int64_t{1}}});
  EXPECT_EQ(Complaint(graph), "(G4) Move 'a': unknown attribute 'pads'");
}

TEST(Verify, G5QuantizationIsWellFormed) {
  const auto complaint = [](Type type) {
    Graph graph = Chain();
    graph.SetType(graph.Find("x"), std::move(type));
    return Complaint(graph);
  };
  EXPECT_EQ(complaint(QuantizedType({4}, -1)), "(G5) 'x': scale -1 must be positive and finite");
  EXPECT_EQ(complaint(QuantizedType({4}, 1, DType::kF32)),
            "(G5) 'x': f32 cannot store quantized values");
  EXPECT_EQ(complaint(QuantizedType({4}, 1, DType::kI64)),
            "(G5) 'x': i64 cannot store quantized values");
  EXPECT_EQ(complaint({DType::kI8, {4}, Quant::PerTensor(1, 128), {}}),
            "(G5) 'x': zero point 128 is outside of i8");
  EXPECT_EQ(complaint({DType::kI8, {4}, Quant::PerAxis(1, {1}, {0}), {}}),
            "(G5) 'x': axis 1 is outside of shape 4");
  EXPECT_EQ(complaint({DType::kI8, {4}, Quant::PerAxis(0, {1, 1}, {0, 0}), {}}),
            "(G5) 'x': 2 scales, but axis 0 has 4 channels");
  EXPECT_EQ(complaint({DType::kI8, {4}, Quant{{1, 1}, {0, 0}, {}, 0}, {}}),
            "(G5) 'x': 2 scales without an axis");
  EXPECT_EQ(complaint({DType::kI8, {4}, Quant{{1, 1}, {0}, 0, 0}, {}}),
            "(G5) 'x': 2 scales but 1 zero points");
  EXPECT_EQ(complaint({DType::kI8, {1}, Quant::PerAxis(0, {1}, {0}), {}}),
            "(G5) 'x' has one scale, so it must not have an axis");
}

Graph Moved(std::string_view op, Type from, Type to) {
  Graph graph;
  const ValueId x = graph.AddInput("x", std::move(from));
  graph.AddNode({.op = FindTinyOp(op, ""), .inputs = {x}, .results = {{"y", std::move(to)}}});
  graph.AddOutput(graph.Find("y"));
  return graph;
}

TEST(Verify, G6ASameScaleOpHasEqualParametersOnItsResult) {
  EXPECT_EQ(Complaint(Moved("Move", QuantizedType({4}, 1), QuantizedType({4}, 1))), "none");
  EXPECT_THAT(Complaint(Moved("Move", QuantizedType({4}, 1), QuantizedType({4}, 2))),
              StartsWith("(G6) Move 'y'"));
  EXPECT_THAT(Complaint(Moved("Move", QuantizedType({4}, 1), QuantizedType({4}, 1, DType::kU8))),
              StartsWith("(G6) Move 'y'"));
  EXPECT_THAT(Complaint(Moved("Move", QuantizedType({4}, 1), kFour)),
              HasSubstr("both must be quantized or none"));
}

TEST(Verify, G6ChannelsPassOnlyByAnAxisRule) {
  const Type channels{DType::kI8, {2}, Quant::PerAxis(0, {1, 2}, {0, 0}), {}};
  const Type other{DType::kI8, {2}, Quant::PerAxis(0, {1, 3}, {0, 0}), {}};
  EXPECT_EQ(Complaint(Moved("Move", channels, channels)), "none");
  EXPECT_EQ(Complaint(Moved("Move", channels, other)),
            "(G6) Move 'y': result 'y' does not have the channels of 'x'");
  EXPECT_EQ(Complaint(Moved("Freeze", channels, channels)),
            "(G6) Freeze 'y': a per-channel type does not pass through it");
}

TEST(Verify, G7FloatOpsAndParametersAreNotQuantized) {
  EXPECT_EQ(Complaint(Moved("Sine", QuantizedType({4}, 1), QuantizedType({4}, 1))),
            "(G7) Sine 'y': is quantized, but no integer form is defined");
  Graph graph = TinyGraph(R"(graph(%x: tensor<4xf32>) -> (%y) {
    const %shape = [4] : tensor<1xi64>
    %y = Shaped(%x, %shape) : tensor<4xf32>
  })");
  const ValueId quantized = graph.AddConstant(
      "quantized", MakePayload(Tensor::Of<int8_t>({1}, {4})), QuantizedType({1}, 1));
  graph.SetInput(ProducerOf(graph, "y"), 1, quantized);
  // The elements of a quantized parameter are unknown, so the check of types fails first.
  EXPECT_THAT(Complaint(graph), HasSubstr("shape depends on data"));
}

TEST(Verify, G8AConstantsDataHasItsType) {
  Graph graph = Chain();
  graph.AddConstant("c", MakePayload(Tensor::Of<float>({2}, {1, 2})), kFour);
  EXPECT_EQ(Complaint(graph), "(G8) constant 'c' holds 2xf32, but its type is 4xf32");
}

Graph WithBias(float bias_scale, int32_t bias_zero_point) {
  Graph graph;
  const ValueId x = graph.AddInput("x", QuantizedType({1, 2}, 0.5f));
  const ValueId w =
      graph.AddInput("w", {DType::kI8, {2, 2}, Quant::PerAxis(0, {0.25f, 2}, {0, 0}), {}});
  const ValueId b = graph.AddInput(
      "b", {DType::kI32, {2}, Quant::PerAxis(0, {0.125f, bias_scale}, {0, bias_zero_point}), {}});
  graph.AddNode({.op = FindTinyOp("Affine", ""),
                 .inputs = {x, w, b},
                 .results = {{"y", QuantizedType({1, 2}, 1)}}});
  graph.AddOutput(graph.Find("y"));
  return graph;
}

TEST(Verify, G9ABiasHasTheAccumulatorsScale) {
  EXPECT_EQ(Complaint(WithBias(1, 0)), "none");
  EXPECT_EQ(Complaint(WithBias(1.5f, 0)),
            "(G9) Affine 'y': bias 'b' has scale 1.5 and zero point 0 at channel 1, but must have "
            "1 and 0");
  EXPECT_THAT(Complaint(WithBias(1, 3)), StartsWith("(G9)"));
}

TEST(Verify, G9EveryChannelOfTheResultIsAsked) {
  Graph graph = WithBias(1, 0);
  graph.SetType(graph.Find("b"), QuantizedType({2}, 0.125f, DType::kI32));
  EXPECT_EQ(Complaint(graph),
            "(G9) Affine 'y': bias 'b' has scale 0.125 and zero point 0 at channel 1, but must "
            "have 1 and 0");
  graph.SetType(graph.Find("b"), QuantizedType({1}, 0.125f, DType::kI32));
  EXPECT_EQ(Complaint(graph),
            "(G9) Affine 'y': bias 'b' is 1xi32, scale=0.125, zp=0, but the result has 2 channels");
}

TEST(Verify, G9ScalesAlongAnotherAxisAreNotThoseOfOutputChannels) {
  Graph graph = WithBias(1, 0);
  graph.SetType(graph.Find("w"), {DType::kI8, {2, 2}, Quant::PerAxis(1, {0.25f, 2}, {0, 0}), {}});
  EXPECT_THAT(Complaint(graph), HasSubstr("along an axis other than its output channels"));
}

TEST(Verify, G9AQuantizedBiasNeedsQuantizedOperands) {
  Graph graph = WithBias(1, 0);
  graph.SetType(graph.Find("x"), {DType::kF32, {1, 2}, {}, {}});
  EXPECT_EQ(Complaint(graph), "(G9) Affine 'y': bias is quantized, but 'x' or 'w' is not");
}

Graph WithBlocks(std::string_view statements) {
  return TinyGraph(fmt::format(R"(graph(%x: tensor<2x5xf32>) -> (%y) {{
    const %w = [1, 2, 3, 4, 5, 6, 7, -1, -2, -8] : tensor<2x5xi4, axis=1, block=2, scale=[0.5, -1, 2, 0, 3, 4], zp=0>
    %d = Dequantize(%w) : tensor<2x5xf32>
    {}
  }})",
                               statements));
}

TEST(Verify, G11BlocksOfAConstantThatIsDequantized) {
  EXPECT_EQ(Complaint(WithBlocks("%y = Plus(%x, %d) : tensor<2x5xf32>")), "none");
  EXPECT_EQ(Complaint(TinyGraph(R"(graph(%x: tensor<4xf32>) -> (%y) {
    const %f = [1, 2, 3, 4] : tensor<4xf32>
    %w = Quantize(%f) : tensor<4xu4, axis=0, block=4, scale=[0.5], zp=8>
    %d = Dequantize(%w) : tensor<4xf32>
    %y = Plus(%x, %d) : tensor<4xf32>
  })")),
            "none");
}

TEST(Verify, G11OtherUsesOfBlocks) {
  const auto blocks = [](DType dtype) { return Type{dtype, {4}, Quant{{1, 2}, {0, 0}, 0, 2}, {}}; };
  const auto complaint = [](Graph graph, std::string_view value, const Type& type) {
    graph.SetType(graph.Find(value), type);
    return Complaint(graph);
  };
  EXPECT_EQ(complaint(Chain(), "x", blocks(DType::kI8)),
            "(G11) 'x' is 4xi8, block=2, axis=0, 2 scales, so it must be a constant, or a Quantize "
            "of one");
  EXPECT_EQ(complaint(Chain(), "x", QuantizedType({4}, 1, DType::kI4)),
            "(G11) 'x' is 4xi4, scale=1, zp=0, so it must be quantized in blocks");
  EXPECT_EQ(complaint(Chain(), "x", {DType::kU4, {4}, {}, {}}),
            "(G11) 'x' is 4xu4, so it must be quantized in blocks");
  Graph graph = WithBlocks("%y = Plus(%x, %d) : tensor<2x5xf32>");
  graph.SetInput(ProducerOf(graph, "y"), 0, graph.Find("w"));
  EXPECT_THAT(Complaint(graph), HasSubstr("so Plus 'y' must not read it, only a Dequantize may"));
  graph = WithBlocks("%y = Plus(%x, %d) : tensor<2x5xf32>");
  graph.AddOutput(graph.Find("w"));
  EXPECT_THAT(Complaint(graph), HasSubstr("so it must not be an output"));
}

TEST(Verify, G5BlocksHaveAScaleEach) {
  const auto message = [](Quant quant, Shape shape) {
    const Status checked = CheckQuant("w", {DType::kI4, std::move(shape), std::move(quant), {}});
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message({{1, 1, 1}, {0, 0, 0}, 0, 2}, {5}), "");
  EXPECT_EQ(message({{1, 1}, {0, 0}, 0, 2}, {5}),
            "'w': 2 scales, but shape 5 has 3 blocks of 2 along axis 0");
  EXPECT_EQ(message({{}, {}, 0, 2}, {0, 7}), "");
  EXPECT_EQ(message({{1}, {0}, 0, -1}, {5}), "'w': block -1 must be at least 1");
  EXPECT_EQ(message({{1}, {0}, {}, 2}, {5}), "'w': block 2 without an axis");
  EXPECT_EQ(message({{1}, {0}, 1, 8}, {5}), "'w': axis 1 is outside of shape 5");
  EXPECT_EQ(message({{-1}, {0}, 0, 8}, {5}), "");
  EXPECT_EQ(message({{INFINITY}, {0}, 0, 8}, {5}), "'w': scale inf must be finite");
  EXPECT_EQ(message({{1}, {8}, 0, 8}, {5}), "'w': zero point 8 is outside of i4");
  // Neither the number of blocks nor that of scales overflows.
  EXPECT_THAT(message({{1}, {0}, 1, 1}, {int64_t{1} << 40, int64_t{1} << 40}), HasSubstr("blocks"));
}

}  // namespace
}  // namespace octavo::ir

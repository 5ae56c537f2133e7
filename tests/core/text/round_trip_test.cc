// SPDX-License-Identifier: Apache-2.0
// Text to graph to text: the text is canonical and loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/base/sha256.h"
#include "core/text/elements.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/tiny_ops.h"

namespace octavo {
namespace {

using test::FindTinyOp;
using test::TinyGraph;
using ::testing::HasSubstr;

void ExpectCanonical(std::string_view text) { EXPECT_EQ(text::Print(TinyGraph(text)), text); }

TEST(TextRoundTrip, CanonicalTextPrintsAsItStands) {
  ExpectCanonical(R"(graph(%x: tensor<2x3xi8, scale=0.5, zp=-3>) -> (%"out:0") {
  const %w = random(1) : tensor<2x3xi8, axis=0, scale=[0.01, 0.5], zp=0>
  const %b = splat(0) : tensor<2xi32, axis=0, scale=[0.005, 0.25], zp=0>
  %"out:0" = Affine(%x, %w, %b) : tensor<2x2xi8, scale=0.02, zp=7>
}
)");
}

TEST(TextRoundTrip, BlocksKeepTheirScales) {
  ExpectCanonical(R"(graph(%x: tensor<3x3xf32>) -> (%y) {
  const %w = [7, -8, 0, 1, 2, 3, 4, 5, -1] : tensor<3x3xi4, axis=0, block=2, scale=[0.5, -1, 0, 3, 4, 5], zp=0>
  const %v = random(4) : tensor<3x3xu4, axis=1, block=1, scale=[], zp=[]>
  %d = Dequantize(%w) : tensor<3x3xf32>
  %e = Dequantize(%v) : tensor<3x3xf32>
  %s = Plus(%d, %e) : tensor<3x3xf32>
  %y = Plus(%x, %s) : tensor<3x3xf32>
  scales %v = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  zps %v = [0, 1, 2, 3, 4, 5, 6, 7, 15]
}
)");
}

TEST(TextRoundTrip, RandomElementsOfFourBitsAreAllOfTheType) {
  for (const ir::DType dtype : {ir::DType::kI4, ir::DType::kU4}) {
    const ir::Tensor tensor = text::RandomTensor(dtype, {1000}, 3);
    std::set<int64_t> met;
    for (const int64_t value : tensor.ToInts()) met.insert(value);
    EXPECT_EQ(met.size(), 16u);
    EXPECT_EQ(*met.begin(), ir::IntegerRangeOf(dtype).min);
    EXPECT_EQ(*met.rbegin(), ir::IntegerRangeOf(dtype).max);
  }
}

TEST(TextRoundTrip, BytesThatAreNotUtf8AreEscaped) {
  ExpectCanonical(R"(graph(%"\xffx": tensor<2xf32>) -> (%"é\xc3y") {
  %"é\xc3y" = Sine@"\xed\xa0\x80\xc0\x80\xf5\x80\x80\x80"(%"\xffx") : tensor<2xf32>
}
)");
}

TEST(TextRoundTrip, HeaderNamesAliasesAndMetadataSurvive) {
  ExpectCanonical(
      R"(graph@"torch \"jit\"\n"(%x: tensor<2xf32>) -> (%y, %y) opset(ai.onnx: 17, com.example: 1) {
  %y = Sine@"node 7"(%x) : tensor<2xf32, range=[-1, 1]>
  alias %"old/name:0" = %x
  alias %z = %y
  retired %"\x01gone"
  retired %q
  metadata "octavo.pending" = "b"
}
)");
}

TEST(TextRoundTrip, EveryAttributeKindKeepsItsKind) {
  ExpectCanonical(R"(graph(%x: tensor<1xf32>) -> (%y) {
  %y = Knobs(%x) {f=1.0, fs=[], i=-3, is=[], s="a\\b", ss=["", "x"], t=[1, 2] : tensor<2xi64>} : tensor<1xf32>
}
)");
  const ir::Graph graph = TinyGraph(
      "graph(%x: tensor<1xf32>) -> (%y) { %y = Knobs(%x) {f=2, fs=[1, 2]} : tensor<1xf32> }");
  const ir::AttrMap& attributes = graph.node(graph.first()).attributes;
  EXPECT_EQ(attributes.Float("f", 0), 2.0f);
  EXPECT_EQ(attributes.Floats("fs"), (std::vector<float>{1, 2}));
}

TEST(TextRoundTrip, SeveralResultsAndAbsentInputs) {
  ExpectCanonical(R"(graph(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>) -> (%b, %y) {
  %a, %b = Halves(%x) : tensor<2x2xf32>, tensor<2x2xf32>
  %y = Affine(%a, %w) : tensor<2x3xf32>
}
)");
  const ir::Graph graph =
      TinyGraph("graph(%x: tensor<1x1xf32>) -> (%y) { %y = Affine(%x, %x, _) : tensor<1x1xf32> }");
  EXPECT_EQ(graph.node(graph.first()).inputs.size(), 2u);
}

TEST(TextRoundTrip, LongParameterListsStandBelowTheNodes) {
  const std::string text = R"(graph(%x: tensor<9xf32>) -> (%y) {
  %q = Quantize(%x) : tensor<9xi8, axis=0, scale=[], zp=[]>
  %y = Dequantize(%q) : tensor<9xf32>
  scales %q = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  zps %q = [0, 1, 0, 0, 0, 0, 0, 0, 0]
}
)";
  ExpectCanonical(text);
  const ir::Graph graph = TinyGraph(text);
  EXPECT_EQ(graph.type(graph.Find("q")).quant->zero_points[1], 1);
}

TEST(TextRoundTrip, OneZeroPointAndOneScaleSpeakForAllChannels) {
  const ir::Graph graph = TinyGraph(R"(graph(%x: tensor<3xf32>) -> (%q) {
    %q = Quantize(%x) : tensor<3xi8, axis=0, scale=0.5, zp=[1, 2, 3]>
  })");
  EXPECT_EQ(*graph.type(graph.Find("q")).quant,
            ir::Quant::PerAxis(0, {0.5f, 0.5f, 0.5f}, {1, 2, 3}));
  EXPECT_THAT(text::Print(graph), HasSubstr("axis=0, scale=[0.5, 0.5, 0.5], zp=[1, 2, 3]"));
}

TEST(TextRoundTrip, AnAxisOfOneScaleIsNone) {
  const ir::Graph graph = TinyGraph(R"(graph(%x: tensor<3x1xf32>) -> (%q) {
    %q = Quantize(%x) : tensor<3x1xi8, axis=1, scale=[0.5], zp=[1]>
  })");
  EXPECT_EQ(*graph.type(graph.Find("q")).quant, ir::Quant::PerTensor(0.5f, 1));
  EXPECT_THAT(text::Print(graph), HasSubstr("3x1xi8, scale=0.5, zp=1"));
}

TEST(TextRoundTrip, EveryElementTypeReadsBackTheSameBits) {
  for (const char* word : {"f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32",
                           "i64", "u64", "bool"}) {
    const ir::DType dtype = *ir::ParseDType(word);
    const ir::Tensor random = text::RandomTensor(dtype, {100}, 7);
    ir::Graph graph;
    graph.AddOutput(graph.AddConstant("c", random));
    const std::string printed = text::Print(graph, {.literal_elements = 1000});
    EXPECT_EQ(TinyGraph(printed).value(ir::ValueId{0}).constant->tensor, random) << word;
  }
}

TEST(TextRoundTrip, FloatsAtTheEdgesReadBackTheSameBits) {
  const std::vector<float> edges = {0.0f,      -0.0f, 1e-45f,          3.4028235e38f, INFINITY,
                                    -INFINITY, 0.1f,  1.17549435e-38f, 16777216.0f};
  ir::Graph graph;
  graph.AddOutput(graph.AddConstant("c", ir::Tensor::Of<float>({9}, edges)));
  const ir::Graph back = TinyGraph(text::Print(graph));
  EXPECT_EQ(back.value(ir::ValueId{0}).constant->tensor,
            graph.value(ir::ValueId{0}).constant->tensor);
}

TEST(TextRoundTrip, HalvesRoundToNearestEven) {
  ir::Tensor half(ir::DType::kF16, {1});
  const auto bits = [&](const char* number) {
    EXPECT_TRUE(text::ParseElement(number, half, 0));
    return half.values<uint16_t>()[0];
  };
  EXPECT_EQ(bits("1"), 0x3c00);
  EXPECT_EQ(bits("65504"), 0x7bff);
  EXPECT_EQ(bits("65520"), 0x7c00);
  EXPECT_EQ(bits("5.9604645e-08"), 0x0001);
  EXPECT_EQ(bits("2049"), 0x6800);  // a tie, to even
  EXPECT_EQ(bits("-2"), 0xc000);
}

TEST(TextRoundTrip, LargePayloadsGoToTheSinkOnceAndComeBackByDigest) {
  ir::Graph graph;
  const ir::Tensor weights = text::RandomTensor(ir::DType::kF32, {5, 5}, 3);
  graph.AddOutput(graph.AddConstant("a", weights));
  graph.AddOutput(graph.AddConstant("b", weights.Clone()));
  std::map<std::string, ir::Tensor> files;
  int calls = 0;
  const auto sink = [&](const std::string& digest, const ir::Tensor& tensor) {
    ++calls;
    files.emplace(digest, tensor);
  };
  const std::string printed = text::Print(graph, {.payload = sink});
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(printed, HasSubstr("data(sha256:" + Sha256Of(weights.raw_bytes()) + ", 100)"));
  const auto source = [&](std::string_view digest) -> Result<Blob> {
    return files.at(std::string(digest)).ToBlob();
  };
  const auto back = text::Parse(printed, {.find_op = &FindTinyOp, .payload = source});
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(text::Print(*back), printed);
}

TEST(TextRoundTrip, OrderInWhichConstantsWereMadeDoesNotShow) {
  const auto make = [](bool swapped) {
    ir::Graph graph;
    const ir::Tensor one = ir::Tensor::Of<float>({1}, {1});
    const ir::ValueId first = graph.AddConstant(swapped ? "b" : "a", one);
    const ir::ValueId second = graph.AddConstant(swapped ? "a" : "b", one);
    graph.AddNode({.op = FindTinyOp("Plus", ""),
                   .inputs = {swapped ? first : second, swapped ? second : first},
                   .results = {{"y", {ir::DType::kF32, {1}, {}, {}}}}});
    graph.AddOutput(graph.Find("y"));
    return text::Print(graph);
  };
  EXPECT_EQ(make(false), make(true));
}

TEST(TextRoundTrip, AnAliasOfAnAliasPrintsItsCarrierAndALostOneIsRetired) {
  ir::Graph graph = TinyGraph(R"(graph(%x: tensor<1xf32>) -> (%y) {
    %a = Move(%x) : tensor<1xf32>
    %b = Move(%a) : tensor<1xf32>
    %y = Move(%b) : tensor<1xf32>
  })");
  graph.Forward(graph.Find("b"), graph.Find("a"));
  graph.Forward(graph.Find("a"), graph.Find("x"));
  graph.EraseDead();
  const std::string printed = text::Print(graph);
  EXPECT_THAT(printed, HasSubstr("alias %a = %x\n  alias %b = %x\n"));
  const ir::Graph back = TinyGraph(printed);
  EXPECT_EQ(back.Resolve("b"), back.Find("x"));
  EXPECT_EQ(text::Print(back), printed);
  EXPECT_THAT(text::Print(graph, {.old_names = false}), ::testing::Not(HasSubstr("alias")));
}

}  // namespace
}  // namespace octavo

// SPDX-License-Identifier: Apache-2.0
#include "core/native/native.h"

#include <gmock/gmock.h>

#include "core/native/payload_scan.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "octavo/v1/graph.pb.h"

namespace octavo::native {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGraph =
    R"(graph@"net"(%x: tensor<1x2x4x4xf32>) -> (%y) opset(ai.onnx: 13) {
  const %w = [1, 2, 3, 4, 5, 6] : tensor<3x2x1x1xi8, axis=0, scale=[0.01, 0.02, 0.03], zp=0>
  const %again = [1, 2, 3, 4, 5, 6] : tensor<6xi8, scale=0.5, zp=3>
  %x.q = Quantize(%x) : tensor<1x2x4x4xu8, scale=0.1, zp=128>
  %c = Conv@"conv"(%x.q, %w) {pads=[0, 0, 0, 0]} : tensor<1x3x4x4xu8, scale=0.5, zp=7, range=[0, 6]>
  %y = Dequantize(%c) : tensor<1x3x4x4xf32>
  alias %old = %c
  retired %gone
  metadata "key" = "value"
}
)";

ir::Graph Parsed(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

std::string Printed(const ir::Graph& graph) { return text::Print(graph, {.old_names = true}); }

// The error that reading reports after `change` modified a valid message.
template <class Change>
std::string ErrorAfter(Change change) {
  const std::string bytes = Write(Parsed(kGraph));
  v1::Graph wire;
  EXPECT_TRUE(wire.ParseFromString(bytes));
  change(wire);
  const auto graph = Read(Blob(wire.SerializeAsString()), &ops::FindOp);
  return graph ? "" : graph.error().message;
}

TEST(Native, AGraphComesBackAsItWas) {
  const ir::Graph graph = Parsed(kGraph);
  const auto again = Read(Blob(Write(graph)), &ops::FindOp);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(Printed(*again), Printed(graph));
  EXPECT_EQ(Write(*again), Write(graph));
}

TEST(Native, AnAxisOfOneScaleIsNone) {
  v1::Graph wire;
  ASSERT_TRUE(wire.ParseFromString(
      Write(Parsed("graph(%x: tensor<3x1xi8, scale=0.5, zp=1>) -> (%y) { %y = Relu(%x) : "
                   "tensor<3x1xi8, scale=0.5, zp=1> }"))));
  for (v1::Value& value : *wire.mutable_values())
    value.mutable_type()->mutable_quant()->set_axis(1);
  const auto graph = Read(Blob(wire.SerializeAsString()), &ops::FindOp);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(*graph->type(graph->Find("x")).quant, ir::Quant::PerTensor(0.5f, 1));
}

// Nine elements of 4 bits take five bytes.
constexpr std::string_view kBlocks = R"(graph(%x: tensor<3x3xf32>) -> (%y) {
  const %w = [7, -8, 0, 1, 2, 3, 4, 5, -1] : tensor<3x3xi4, axis=0, block=2, scale=[0.5, -1, 0, 3, 4, 5], zp=0>
  const %v = [15, 8, 0] : tensor<3x1xu4, axis=0, block=3, scale=[0.5], zp=[8]>
  %d = Dequantize(%w) : tensor<3x3xf32>
  %e = Dequantize(%v) : tensor<3x1xf32>
  %s = Add(%d, %e) : tensor<3x3xf32>
  %y = Add(%x, %s) : tensor<3x3xf32>
}
)";

TEST(Native, BlocksComeBackAsTheyWere) {
  const ir::Graph graph = Parsed(kBlocks);
  const std::string bytes = Write(graph);
  const auto split = SplitPayloads(Blob(bytes));
  ASSERT_TRUE(split);
  ASSERT_EQ(split->payloads.size(), 2u);
  EXPECT_EQ(split->payloads[0].size() + split->payloads[1].size(), 5u + 2u);
  const auto again = Read(Blob(bytes), &ops::FindOp);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(Printed(*again), Printed(graph));
  EXPECT_EQ(Write(*again), bytes);
}

TEST(Native, BlocksThatDoNotFitTheirScalesOrData) {
  const auto error_after = [](auto change) {
    v1::Graph wire;
    EXPECT_TRUE(wire.ParseFromString(Write(Parsed(kBlocks))));
    for (v1::Value& value : *wire.mutable_values()) {
      if (value.name() == "w") change(wire, *value.mutable_type()->mutable_quant());
    }
    const auto graph = Read(Blob(wire.SerializeAsString()), &ops::FindOp);
    return graph ? "" : graph.error().message;
  };
  const auto with_block = [&](int64_t block) {
    return error_after([&](v1::Graph&, v1::Quant& quant) { quant.set_block(block); });
  };
  EXPECT_THAT(with_block(-1), HasSubstr("has block -1, but must have one from 0 to 2^31 - 1"));
  EXPECT_THAT(with_block(int64_t{1} << 31), HasSubstr("has block 2147483648"));
  EXPECT_THAT(with_block(0), HasSubstr("6 scales, but axis 0 has 3 channels"));
  EXPECT_THAT(with_block(3), HasSubstr("6 scales, but shape 3x3 has 3 blocks of 3 along axis 0"));
  EXPECT_THAT(error_after([](v1::Graph&, v1::Quant& quant) { quant.clear_axis(); }),
              HasSubstr("block 2 without an axis"));
  EXPECT_THAT(error_after([](v1::Graph& graph, v1::Quant&) {
                for (std::string& bytes : *graph.mutable_payloads()) bytes.pop_back();
              }),
              HasSubstr("but its data have"));
}

TEST(Native, EqualPayloadsAreWrittenOnceAndLast) {
  const auto split = SplitPayloads(Blob(Write(Parsed(kGraph))));
  ASSERT_TRUE(split);
  ASSERT_EQ(split->payloads.size(), 1u);
  EXPECT_EQ(split->payloads[0].size(), 6u);
}

TEST(Native, EveryLengthThatIsCutIsSaid) {
  const std::string bytes = Write(Parsed(kGraph));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Read(Blob(bytes.substr(0, size)), &ops::FindOp)) << size;
  }
}

TEST(Native, MistakesNameTheFieldOrTheNode) {
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.set_octavo_graph(2); }), HasSubstr("version 2"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.mutable_nodes(1)->set_op("Frob"); }),
              HasSubstr("nodes[1] 'conv': unknown op 'Frob'"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.mutable_nodes(1)->set_inputs(0, "y"); }),
              HasSubstr("'y' is not computed before it is read"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.clear_payloads(); }),
              HasSubstr("constant data 0 of 0"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.set_payloads(0, "12345"); }), HasSubstr("5 bytes"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { g.set_outputs(0, "z"); }), HasSubstr("outputs: 'z'"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) {
                for (auto& value : *g.mutable_values()) {
                  if (value.name() == "c") value.mutable_type()->mutable_quant()->set_scales(0, -1);
                }
              }),
              HasSubstr("'c'"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) {
                for (auto& value : *g.mutable_values()) {
                  if (value.name() == "y") value.mutable_type()->mutable_shape()->set_dims(1, 9);
                }
              }),
              HasSubstr("'y' is 1x9x4x4xf32, but Dequantize makes"));
  EXPECT_THAT(ErrorAfter([](v1::Graph& g) { *g.add_values() = g.values(0); }),
              HasSubstr("defined twice"));
}

}  // namespace
}  // namespace octavo::native

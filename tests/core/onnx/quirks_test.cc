// SPDX-License-Identifier: Apache-2.0
// What an export writes for a runtime with quirks, and that it comes back as the graph it was.
// tests/peers/quirks.mjs asks the runtime itself.
#include <gmock/gmock.h>

#include "core/onnx/export/export.h"
#include "core/onnx/wire/model_proto.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

ir::Graph Parsed(std::string_view text) {
  const auto graph = text::Parse(text, {.find_op = ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message << "\n" << text;
  return graph ? *graph : ir::Graph();
}

std::vector<target::Quirk> Quirks() { return target::BuiltInQuirks("onnxruntime-1.30")->avoided; }

// The nodes of the model that is written for the runtime, as "Op(inputs) -> output".
std::vector<std::string> Written(const ir::Graph& graph) {
  const std::vector<target::Quirk> quirks = Quirks();
  const auto exported = ExportModel(graph, {.quirks = quirks});
  EXPECT_TRUE(exported) << exported.error().message;
  const auto parsed = ParseModel(Blob(exported->model));
  std::vector<std::string> lines;
  for (const auto& node : parsed->model.graph().node()) {
    lines.push_back(
        fmt::format("{}({}) -> {}", node.op_type(), fmt::join(node.input(), ", "), node.output(0)));
  }
  return lines;
}

// The ids of the quirks that the graph meets at the opset.
std::vector<std::string> Met(const ir::Graph& graph, int64_t opset) {
  const std::vector<target::Quirk> quirks = Quirks();
  std::vector<std::string> ids;
  for (const MetQuirk& met : FindQuirks(graph, quirks, opset)) {
    if (met.quirk->warns) ids.push_back(met.quirk->id + " " + met.node);
  }
  return ids;
}

void ExpectSameThereAndBack(const ir::Graph& graph) {
  const std::vector<target::Quirk> quirks = Quirks();
  const auto exported = ExportModel(graph, {.quirks = quirks});
  ASSERT_TRUE(exported) << exported.error().message;
  const auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(text::Print(imported->graph, {.old_names = false}),
            text::Print(graph, {.old_names = false}));
  const auto again = ExportModel(imported->graph, {.quirks = quirks});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->model, exported->model);
}

std::string SoftmaxOf(std::string_view shape, std::string_view scale) {
  return fmt::format(R"(
graph(%x: tensor<{0}xf32>) -> (%y) opset("": 13) {{
  %x.q = Quantize(%x) : tensor<{0}xu8, scale=0.0001, zp=3>
  %y.q = Softmax(%x.q) {{axis = 1}} : tensor<{0}xu8, scale={1}, zp=0>
  %y = Dequantize(%y.q) : tensor<{0}xf32>
}}
)",
                     shape, scale);
}

TEST(Quirks, SoftmaxWithAFineResultIsKeptFromBeingFused) {
  const ir::Graph graph = Parsed(SoftmaxOf("3x4", "0.001"));
  EXPECT_THAT(Met(graph, 13), ElementsAre("softmax-overflow y.q"));
  EXPECT_THAT(Written(graph), Contains("Max(y.float) -> y.float.guard"));
  ExpectSameThereAndBack(graph);
}

TEST(Quirks, SoftmaxAlongAnAxisOfOneIsKeptFromBeingFused) {
  EXPECT_THAT(Met(Parsed(SoftmaxOf("3x1", "0.00390625")), 13), ElementsAre("softmax-overflow y.q"));
}

TEST(Quirks, OtherSoftmaxMeetsNone) {
  const ir::Graph graph = Parsed(SoftmaxOf("3x4", "0.00390625"));
  EXPECT_THAT(Met(graph, 13), IsEmpty());
  EXPECT_THAT(Written(graph), Not(Contains(HasSubstr("Max("))));
}

constexpr std::string_view kGemm = R"(
graph(%x: tensor<3x2xf32>) -> (%y) opset("": 13) {
  const %w = [1, 2, 3, 4] : tensor<2x2xi8, axis=0, scale=[0.5, 0.25], zp=0>
  const %b = [8] : tensor<1xi32, scale=0.25, zp=0>
  %x.q = Quantize(%x) : tensor<3x2xu8, scale=0.5, zp=3>
  %y.q = Gemm(%x.q, %w, %b) {transB = 1} : tensor<3x2xu8, scale=1.0, zp=7>
  %y = Dequantize(%y.q) : tensor<3x2xf32>
}
)";

// The exporter need not split such a bias: a graph has one value per channel, at its scale.
TEST(Quirks, BiasOfOneElementForSeveralScalesIsRefused) {
  const auto graph = text::Parse(kGemm, {.find_op = ops::FindOp});
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, testing::HasSubstr("(G9)"));
  EXPECT_THAT(graph.error().message, testing::HasSubstr("the result has 2 channels"));
}

constexpr std::string_view kRescale = R"(
graph(%x: tensor<3x4xf32>) -> (%y) opset("": 13) {
  %x.q = Quantize(%x) : tensor<3x4xu8, scale=0.5, zp=3>
  %y.q = Rescale(%x.q) : tensor<3x4xu8, scale=0.25, zp=3>
  %y = Dequantize(%y.q) : tensor<3x4xf32>
}
)";

TEST(Quirks, RescaleBetweenEqualDTypesIsKeptFromBeingMerged) {
  const ir::Graph graph = Parsed(kRescale);
  EXPECT_THAT(Met(graph, 13), ElementsAre(HasSubstr("double-qdq")));
  EXPECT_THAT(Written(graph), Contains(HasSubstr("Max(x.dq)")));
  ExpectSameThereAndBack(graph);
}

constexpr std::string_view kReduceMax = R"(
graph(%x: tensor<3x4xf32>) -> (%y) opset("": 11) {
  %x.q = Quantize(%x) : tensor<3x4xu8, scale=0.5, zp=3>
  const %axes = [1] : tensor<1xi64>
  %y.q = ReduceMax(%x.q, %axes) : tensor<3x1xu8, scale=0.5, zp=3>
  %y = Dequantize(%y.q) : tensor<3x1xf32>
}
)";

TEST(Quirks, OpsetIsRaisedToTheFirstWithAKernel) {
  const auto graph = text::Parse(kReduceMax, {.find_op = ops::FindOp});
  ASSERT_TRUE(graph) << graph.error().message;
  const std::vector<target::Quirk> quirks = Quirks();
  EXPECT_THAT(Met(*graph, 11), ElementsAre(HasSubstr("reduce-opset")));
  EXPECT_EQ(ExportModel(*graph)->opset, 11);
  EXPECT_EQ(ExportModel(*graph, {.quirks = quirks})->opset, 12);
  const auto asked = ExportModel(*graph, {.opset = 11, .quirks = quirks});
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("cannot be written at opset 11; it needs 12"));
}

constexpr std::string_view kSqrt = R"(
graph(%x: tensor<3x4xf32>) -> (%y) opset("": 13) {
  %x.q = Quantize(%x) : tensor<3x4xu8, scale=0.5, zp=3>
  %y.q = Sqrt(%x.q) : tensor<3x4xu8, scale=0.25, zp=3>
  %y = Dequantize(%y.q) : tensor<3x4xf32>
}
)";

TEST(Quirks, NanIsReplacedBeforeQuantizeLinear) {
  const ir::Graph graph = Parsed(kSqrt);
  EXPECT_THAT(Met(graph, 13), IsEmpty()) << "NaN is no reason to warn of every model";
  const std::vector<std::string> nodes = Written(graph);
  EXPECT_THAT(nodes, Contains("Where(x.is_nan, zero, x) -> x.guard"));
  EXPECT_THAT(nodes, Contains("Where(y.float.is_nan, zero, y.float) -> y.float.guard"));
  ExpectSameThereAndBack(graph);
}

std::string PoolOf(std::string_view in, std::string_view out, std::string_view attributes) {
  return fmt::format(R"(
graph(%x: tensor<{}xf32>) -> (%y) opset("": 13) {{
  %y = AveragePool(%x) {{{}}} : tensor<{}xf32>
}}
)",
                     in, attributes, out);
}

// Windows begin at -1, 1 and 3 of 5 elements; the plain formula counts one at 5 as well.
TEST(Quirks, CeilModeIsWrittenAsPads) {
  constexpr std::string_view window =
      "ceil_mode = 1, count_include_pad = 1, kernel_shape = [2], pads = [1, 1], strides = [2]";
  const ir::Graph graph = Parsed(PoolOf("1x1x5", "1x1x3", window));
  EXPECT_THAT(Met(graph, 13), ElementsAre("pool-ceil-shape y"));
  const std::vector<target::Quirk> quirks = Quirks();
  const auto exported = ExportModel(graph, {.quirks = quirks});
  ASSERT_TRUE(exported) << exported.error().message;
  const auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(text::Print(imported->graph), HasSubstr("pads=[1, 1]"));
  EXPECT_THAT(text::Print(imported->graph), Not(HasSubstr("ceil_mode")));
  EXPECT_THAT(text::Print(imported->graph), HasSubstr("tensor<1x1x3xf32>"));
}

// The last window reaches one element beyond the input, where ceil_mode has its meaning.
TEST(Quirks, CeilModeStaysWhereItsFormulaIsRight) {
  constexpr std::string_view window = "ceil_mode = 1, kernel_shape = [2], strides = [2]";
  EXPECT_THAT(Met(Parsed(PoolOf("1x1x5", "1x1x3", window)), 13), IsEmpty());
}

TEST(Quirks, SoftmaxIsKeptFromBeingFusedWhereTheReciprocalIsNotWhole) {
  constexpr std::string_view max = "Max(y.float) -> y.float.guard";
  EXPECT_THAT(Written(Parsed(SoftmaxOf("3x4", "0.0039"))), Contains(max));
  EXPECT_THAT(Written(Parsed(SoftmaxOf("3x4", "0.0039215689"))), Contains(max)) << "254.99998";
  EXPECT_THAT(Written(Parsed(SoftmaxOf("3x4", "0.00390625"))), Not(Contains(max))) << "256";
}

// Of a target file: rows may name ops that the condition and the remedy were not made for.
TEST(Quirks, AnyConditionOnAnyOpExports) {
  constexpr std::string_view text = R"(
graph(%x: tensor<3x4xf32>, %h: tensor<1x1x4x4xf32>) -> (%y, %p, %c) opset("": 13) {
  const %w = [1, 2, 3, 4, 5, 6, 7, 8] : tensor<4x2xf32>
  const %u = [1, 2, 3, 4, 5, 6, 7, 8] : tensor<4x2xi8, axis=1, scale=[0.5, 0.25], zp=0>
  %x.q = Quantize(%x) : tensor<3x4xu8, scale=0.5, zp=3>
  %m = MatMul(%x, %w) : tensor<3x2xf32>
  %r = Relu(%m) : tensor<3x2xf32>
  %g = Gemm(%r, %w) {transB = 1} : tensor<3x4xf32>
  %n = MatMul(%x.q, %u) : tensor<3x2xu8, scale=0.5, zp=3>
  %c = Clip(%g) : tensor<3x4xf32>
  %p = MaxPool(%h) {kernel_shape = [2, 2]} : tensor<1x1x3x3xf32>
  %y = Dequantize(%n) : tensor<3x2xf32>
}
)";
  const ir::Graph graph = Parsed(text);
  for (int when = 0; when <= static_cast<int>(target::QuirkCondition::kOddZeroPoint); ++when) {
    for (int instead = 0; instead <= static_cast<int>(target::QuirkRemedy::kReplaceNan);
         ++instead) {
      const std::vector<target::Quirk> quirks = {
          {.id = "any",
           .ops = {"Quantize", "Dequantize", "MatMul", "Relu", "Gemm", "Clip", "MaxPool"},
           .when = static_cast<target::QuirkCondition>(when),
           .limit = 13,
           .instead = static_cast<target::QuirkRemedy>(instead)}};
      const auto exported = ExportModel(graph, {.quirks = quirks});
      EXPECT_TRUE(exported) << when << " " << instead << " " << exported.error().message;
      EXPECT_FALSE(FindQuirks(graph, quirks, 13).size() > graph.node_bound());
    }
  }
}

std::string PoolWithZeroPoint(int zero) {
  return fmt::format(R"(
graph(%x: tensor<1x1x4x4xf32>) -> (%y) opset("": 13) {{
  %x.q = Quantize(%x) : tensor<1x1x4x4xu8, scale=0.5, zp={0}>
  %y.q = AveragePool(%x.q) {{kernel_shape = [2, 2]}} : tensor<1x1x3x3xu8, scale=0.5, zp={0}>
  %y = Dequantize(%y.q) : tensor<1x1x3x3xf32>
}}
)",
                     zero);
}

TEST(Quirks, AveragePoolWithAnOddZeroPointIsKeptFromBeingFused) {
  constexpr std::string_view max = "Max(y.float) -> y.float.guard";
  EXPECT_THAT(Written(Parsed(PoolWithZeroPoint(73))), Contains(max));
  EXPECT_THAT(Written(Parsed(PoolWithZeroPoint(72))), Not(Contains(max)));
  ExpectSameThereAndBack(Parsed(PoolWithZeroPoint(73)));
}

// %more reads the Conv's result %c or does not.
std::string ConvInFloat(std::string_view more) {
  return fmt::format(R"(
graph(%x: tensor<1x1x4x4xf32>, %z: tensor<1x1x3x3xf32>) -> (%y, %more) opset("": 13) {{
  const %w = [1, 2, 3, 4] : tensor<1x1x2x2xf32>
  %x.q = Quantize(%x) : tensor<1x1x4x4xu8, scale=0.5, zp=3>
  %x.dq = Dequantize(%x.q) : tensor<1x1x4x4xf32>
  %c = Conv(%x.dq, %w) : tensor<1x1x3x3xf32>
  %r = Relu(%c) : tensor<1x1x3x3xf32>
  %more = {} : tensor<1x1x3x3xf32>
  %r.q = Quantize(%r) : tensor<1x1x3x3xu8, scale=0.5, zp=3>
  %y.q = Add(%r.q, %r.q) : tensor<1x1x3x3xu8, scale=1.0, zp=3>
  %y = Dequantize(%y.q) : tensor<1x1x3x3xf32>
}}
)",
                     more);
}

TEST(Quirks, ConvInFloatIsGuardedBehindWhatTheRuntimeLooksThrough) {
  const ir::Graph graph = Parsed(ConvInFloat("Sqrt(%z)"));
  EXPECT_THAT(Met(graph, 13), ElementsAre("float-parameters c"));
  EXPECT_THAT(Written(graph), Contains("Where(r.is_nan, zero, r) -> r.guard"));
}

TEST(Quirks, ConvInFloatWithAFloatConsumerIsNoPattern) {
  const ir::Graph graph = Parsed(ConvInFloat("Add(%c, %z)"));
  EXPECT_THAT(Met(graph, 13), IsEmpty());
  EXPECT_THAT(Written(graph), Not(Contains(HasSubstr("Max("))));
}

std::string WeightsOnly(std::string_view product, std::string_view axis, std::string_view other) {
  return fmt::format(R"(
graph(%x: tensor<3x2xf32>) -> (%y, %v) opset("": 13) {{
  const %w = [1, 2, 3, 4] : tensor<2x2xi8, axis={}, scale=[0.5, 0.25], zp=0>
  %w.dq = Dequantize(%w) : tensor<2x2xf32>
  %y = {} : tensor<3x2xf32>
  %v = {} : tensor<3x2xf32>
}}
)",
                     axis, product, other);
}

TEST(Quirks, ProductWhoseWeightsAloneAreIntegersNeedsASessionOption) {
  constexpr std::string_view other = "Relu(%x)";
  const auto met = [](const std::string& text) { return Met(Parsed(text), 13); };
  EXPECT_THAT(met(WeightsOnly("MatMul(%x, %w.dq)", "1", other)), ElementsAre("matmul-nbits y"));
  EXPECT_THAT(met(WeightsOnly("Gemm(%x, %w.dq)", "1", other)), ElementsAre("matmul-nbits y"));
  EXPECT_THAT(met(WeightsOnly("Gemm(%x, %w.dq) {transB = 1}", "0", other)), IsEmpty());
  EXPECT_THAT(met(WeightsOnly("MatMul(%x, %w.dq)", "0", other)), IsEmpty()) << "scales of rows";
  EXPECT_THAT(met(WeightsOnly("MatMul(%x, %w.dq)", "1", "MatMul(%x, %w.dq)")), IsEmpty())
      << "two consumers keep the weights dequantized";
  EXPECT_THAT(met(WeightsOnly("MatMul(%x, %w.dq)", "1", "Relu(%y)")), IsEmpty());
}

// The variance as E[x^2] - E[x]^2.
constexpr std::string_view kVariance = R"(
graph(%x: tensor<2x6xf32>) -> (%y) opset("": 18) {
  const %axes = [1] : tensor<1xi64>
  %x.q = Quantize(%x) : tensor<2x6xu8, scale=0.5, zp=3>
  %x.dq = Dequantize(%x.q) : tensor<2x6xf32>
  %square = Mul(%x.dq, %x.dq) : tensor<2x6xf32>
  %mean = ReduceMean(%x.dq, %axes) : tensor<2x1xf32>
  %of_squares = ReduceMean(%square, %axes) : tensor<2x1xf32>
  %square_of_mean = Mul(%mean, %mean) : tensor<2x1xf32>
  %variance = Sub(%of_squares, %square_of_mean) : tensor<2x1xf32>
  %y = Quantize(%variance) : tensor<2x1xu8, scale=0.5, zp=3>
}
)";

TEST(Quirks, SumsWhoseDifferenceIsTakenAreInDouble) {
  const ir::Graph graph = Parsed(kVariance);
  EXPECT_THAT(Met(graph, 18),
              ElementsAre("difference-of-sums mean", "difference-of-sums of_squares"));
  EXPECT_THAT(Written(graph),
              IsSupersetOf({"Cast(x.dq) -> mean.wide", "ReduceMean(mean.wide, axes) -> mean.sum",
                            "Cast(mean.sum) -> mean"}));
  ExpectSameThereAndBack(graph);
}

TEST(Quirks, OtherSumsStayInFloat) {
  std::string text(kVariance);
  text.replace(text.find("Sub("), 4, "Add(");
  EXPECT_THAT(Met(Parsed(text), 13), IsEmpty());
  text = kVariance;
  text.replace(text.find("%square_of_mean)"), 16, "%mean.of_others)");
  text.replace(text.find("  %x.q"), 0, "  const %mean.of_others = [1] : tensor<1xf32>\n");
  EXPECT_THAT(Met(Parsed(text), 13), IsEmpty());
}

// Names alone do not make a sum in double: a model that casts for its own reasons keeps its Casts.
TEST(Quirks, CastsThatOthersReadStay) {
  const ir::Graph graph = Parsed(R"(
graph(%x: tensor<2x6xf32>) -> (%y, %y.wide) opset("": 13) {
  const %axes = [1] : tensor<1xi64>
  %y.wide = Cast(%x) {to = 11} : tensor<2x6xf64>
  %y.sum = ReduceSum(%y.wide, %axes) : tensor<2x1xf64>
  %y = Cast(%y.sum) {to = 1} : tensor<2x1xf32>
}
)");
  ExpectSameThereAndBack(graph);
}

}  // namespace
}  // namespace octavo::onnx

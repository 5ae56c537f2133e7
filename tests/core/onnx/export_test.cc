// SPDX-License-Identifier: Apache-2.0
// Exporting and importing a graph gives the same text.
#include "core/onnx/export/export.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/ir/qdq_notes.h"
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

int64_t CountOf(const passes::Findings& findings, std::string_view rule) {
  return std::ranges::count(findings.ledger, rule, &passes::LedgerEntry::rule);
}

ir::Graph Parsed(std::string_view text) {
  const auto graph = text::Parse(text, {.find_op = ops::FindOp});
  EXPECT_TRUE(graph) << graph.error().message << "\n" << text;
  return graph ? *graph : ir::Graph();
}

std::string Printed(const ir::Graph& graph) { return text::Print(graph, {.old_names = false}); }

// Prints the graph after an export and an import.
std::string ThereAndBack(const ir::Graph& graph, const ExportOptions& options = {}) {
  const auto exported = ExportModel(graph, options);
  if (!exported) return "export: " + exported.error().message;
  auto imported = test::ImportFolded(Blob(exported->model));
  if (!imported) return "import: " + imported.error().message;
  imported->graph.metadata.erase(ir::kQdqFloatsKey);  // fold-qdq's note for move-quantize
  return Printed(imported->graph);
}

// The nodes of a model as "Op(inputs) -> outputs".
std::vector<std::string> NodesOf(const Exported& exported) {
  const auto parsed = ParseModel(Blob(exported.model));
  std::vector<std::string> lines;
  for (const auto& node : parsed->model.graph().node()) {
    lines.push_back(fmt::format("{}({}) -> {}", node.op_type(), fmt::join(node.input(), ", "),
                                fmt::join(node.output(), ", ")));
  }
  return lines;
}

// An integer convolution between a float input and a float output.
constexpr std::string_view kConv = R"(
graph(%x: tensor<1x3x8x8xf32>) -> (%y) opset("": 13) {
  const %w = [1, 2, 3, 4, 5, 6] : tensor<2x3x1x1xi8, axis=0, scale=[0.5, 0.25], zp=0>
  const %b = [7, -9] : tensor<2xi32, axis=0, scale=[0.25, 0.125], zp=0>
  %x.q = Quantize(%x) : tensor<1x3x8x8xu8, scale=0.5, zp=3>
  %y.q = Conv(%x.q, %w, %b) : tensor<1x2x8x8xu8, scale=1.0, zp=7>
  %y = Dequantize(%y.q) : tensor<1x2x8x8xf32>
}
)";

constexpr std::string_view kTwice = R"(
graph(%x: tensor<1x64xf32>) -> (%y) opset("": 13) {
  const %v = splat(3) : tensor<64x64xi8, scale=0.5, zp=0>
  const %w = splat(3) : tensor<64x64xi8, scale=0.25, zp=0>
  const %u = splat(3) : tensor<64x64xi8, scale=0.5, zp=0>
  %x.q = Quantize(%x) : tensor<1x64xu8, scale=0.5, zp=3>
  %a = MatMul(%x.q, %v) : tensor<1x64xu8, scale=1.0, zp=7>
  %b = MatMul(%a, %w) : tensor<1x64xu8, scale=1.0, zp=7>
  %y.q = MatMul(%b, %u) : tensor<1x64xu8, scale=1.0, zp=7>
  %y = Dequantize(%y.q) : tensor<1x64xf32>
}
)";

TEST(Export, EqualIntegersAreStoredOnceAndKeepTheirConsumers) {
  const auto exported = ExportModel(Parsed(kTwice));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_LT(exported->model.size(), 1.5 * 64 * 64);
  EXPECT_THAT(NodesOf(*exported), Contains("DequantizeLinear(v.q, w.scale, w.zero_point) -> w"));
  const auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = Printed(imported->graph);
  EXPECT_THAT(text, HasSubstr("%a = MatMul(%x.q, %v)"));
  EXPECT_THAT(text, HasSubstr("%b = MatMul(%a, %w)"));
  EXPECT_THAT(text, HasSubstr("%w = splat(3) : tensor<64x64xi8, scale=0.25, zp=0>"));
  // Constants with equal data and type are still two values, so that another export is equal.
  EXPECT_THAT(text, HasSubstr("%y.q = MatMul(%b, %u)"));
  const auto again = ExportModel(imported->graph);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(NodesOf(*again), NodesOf(*exported));
}

TEST(Export, EqualFloatsAreStoredOnceAndKeepTheirNames) {
  const ir::Graph graph = Parsed(R"(graph@"g"(%x: tensor<1x64xf32>) -> (%y) opset(ai.onnx: 17) {
  const %v = splat(3) : tensor<64x64xf32>
  const %w = splat(3) : tensor<64x64xf32>
  %h = MatMul(%x, %v) : tensor<1x64xf32>
  %y = MatMul(%h, %w) : tensor<1x64xf32>
}
)");
  const auto exported = ExportModel(graph);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_LT(exported->model.size(), 1.5 * 64 * 64 * sizeof(float));
  EXPECT_THAT(NodesOf(*exported),
              ElementsAre("Identity(v) -> w", "MatMul(x, v) -> h", "MatMul(h, w) -> y"));
  const auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  const ir::Graph& again = imported->graph;
  const ir::Value &v = again.value(again.Find("v")), &w = again.value(again.Find("w"));
  EXPECT_EQ(v.constant, w.constant);
  EXPECT_THAT(Printed(again), HasSubstr("%y = MatMul(%h, %w)"));
}

TEST(Export, NamesOfAConvolutionAreThoseOfTheInterface) {
  const auto exported = ExportModel(Parsed(kConv));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_THAT(NodesOf(*exported),
              ElementsAre("QuantizeLinear(x, x.scale, x.zero_point) -> x.q",
                          "DequantizeLinear(x.q, x.scale, x.zero_point) -> x.dq",
                          "DequantizeLinear(w.q, w.scale, w.zero_point) -> w",
                          "DequantizeLinear(b.q, b.scale) -> b", "Conv(x.dq, w, b) -> y.float",
                          "QuantizeLinear(y.float, y.scale, y.zero_point) -> y.q",
                          "DequantizeLinear(y.q, y.scale, y.zero_point) -> y"));
}

TEST(Export, QLinearFormatKeepsTheIntegers) {
  const auto exported = ExportModel(Parsed(kConv), {.format = Format::kQLinear});
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_THAT(NodesOf(*exported),
              ElementsAre("QuantizeLinear(x, x.scale, x.zero_point) -> x.q",
                          "QLinearConv(x.q, x.scale, x.zero_point, w.q, w.scale, w.zero_point, "
                          "y.scale, y.zero_point, b.q) -> y.q",
                          "DequantizeLinear(y.q, y.scale, y.zero_point) -> y"));
}

struct Case {
  std::string name = {};
  std::string_view text = {};
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

const Case kStable[] = {
    {"Convolution", kConv},
    {"IntegerInputAndOutput", R"(
graph(%x: tensor<1x8xu8, scale=0.5, zp=3>) -> (%y) opset("": 13) {
  %h = Relu(%x) : tensor<1x8xu8, scale=0.5, zp=3>
  %y = Sigmoid(%h) : tensor<1x8xu8, scale=0.00390625, zp=0>
}
)"},
    {"PendingWeightAndBias", R"(
graph(%x: tensor<1x3x8x8xf32>) -> (%y) opset("": 13) {
  const %w.float = [1, 2, 3, 4, 5, 6] : tensor<2x3x1x1xf32>
  const %b.float = [7, -9] : tensor<2xf32>
  %x.q = Quantize(%x) : tensor<1x3x8x8xu8, scale=0.5, zp=3>
  %w = Quantize(%w.float) : tensor<2x3x1x1xi8, axis=0, scale=[0.5, 0.25], zp=0>
  %b = Quantize(%b.float) : tensor<2xi32, axis=0, scale=[0.25, 0.125], zp=0>
  %y.q = Conv(%x.q, %w, %b) : tensor<1x2x8x8xu8, scale=1.0, zp=7>
  %y = Dequantize(%y.q) : tensor<1x2x8x8xf32>
}
)"},
    {"RescaleBetween", R"(
graph(%x: tensor<1x8xf32>) -> (%z) opset("": 13) {
  %x.q = Quantize(%x) : tensor<1x8xi8, scale=0.5, zp=3>
  %y = Relu(%x.q) : tensor<1x8xi8, scale=0.5, zp=3>
  %y.r = Rescale(%y) : tensor<1x8xi8, scale=0.25, zp=0>
  %z.q = Concat(%y.r, %y.r) {axis=1} : tensor<1x16xi8, scale=0.25, zp=0>
  %z = Dequantize(%z.q) : tensor<1x16xf32>
}
)"},
    {"InnerReaderOfAnOutput", R"(
graph(%x: tensor<1x8xf32>) -> (%y, %z) opset("": 13) {
  %x.q = Quantize(%x) : tensor<1x8xi8, scale=0.5, zp=3>
  %y.q = Sigmoid(%x.q) : tensor<1x8xi8, scale=0.125, zp=3>
  %y = Dequantize(%y.q) : tensor<1x8xf32>
  %z.q = Tanh(%y.q) : tensor<1x8xi8, scale=0.125, zp=0>
  %z = Dequantize(%z.q) : tensor<1x8xf32>
}
)"},
    {"FloatOperatorBetween", R"(
graph(%x: tensor<1x8xf32>) -> (%z) opset("": 13) {
  %x.q = Quantize(%x) : tensor<1x8xi8, scale=0.5, zp=3>
  %y = Sigmoid(%x.q) : tensor<1x8xi8, scale=0.125, zp=3>
  %y.dq = Dequantize(%y) : tensor<1x8xf32>
  %h.float = Add(%y.dq, %x) : tensor<1x8xf32>
  %h = Quantize(%h.float) : tensor<1x8xi8, scale=0.125, zp=0>
  %z.q = Tanh(%h) : tensor<1x8xi8, scale=0.125, zp=0>
  %z = Dequantize(%z.q) : tensor<1x8xf32>
}
)"},
    {"FloatOnly", R"(
graph(%x: tensor<1x3x8x8xf32>) -> (%y) opset("": 9) {
  const %w = [1, 2, 3, 4, 5, 6] : tensor<2x3x1x1xf32>
  %h = Conv(%x, %w) : tensor<1x2x8x8xf32>
  %y = Relu(%h) : tensor<1x2x8x8xf32>
}
)"},
};

class Stable : public testing::TestWithParam<Case> {};

TEST_P(Stable, ComesBackAsItWas) {
  const ir::Graph graph = Parsed(GetParam().text);
  EXPECT_EQ(ThereAndBack(graph), Printed(graph));
}

TEST_P(Stable, ComesBackAsItWasFromQLinear) {
  const ir::Graph graph = Parsed(GetParam().text);
  EXPECT_EQ(ThereAndBack(graph, {.format = Format::kQLinear}), Printed(graph));
}

TEST_P(Stable, HasEqualBytesEachTime) {
  const ir::Graph graph = Parsed(GetParam().text);
  const auto first = ExportModel(graph), second = ExportModel(graph);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->model, second->model);
}

INSTANTIATE_TEST_SUITE_P(Export, Stable, testing::ValuesIn(kStable),
                         [](const auto& info) { return info.param.name; });

TEST(Export, PerChannelRaisesTheOpsetToThirteen) {
  ir::Graph graph = Parsed(kConv);
  graph.opsets[""] = 9;
  const auto exported = ExportModel(graph);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->opset, 13);
  const auto lower = ExportModel(graph, {.opset = 12});
  ASSERT_FALSE(lower);
  EXPECT_EQ(lower.error().code, Code::kUnimplemented);
  EXPECT_THAT(lower.error().message, HasSubstr("opset 12"));
}

TEST(Export, SixteenBitsRaiseTheOpsetToTwentyOne) {
  const auto exported = ExportModel(Parsed(R"(
graph(%x: tensor<1x8xf32>) -> (%y) opset("": 13) {
  %x.q = Quantize(%x) : tensor<1x8xi16, scale=0.5, zp=0>
  %y = Dequantize(%x.q) : tensor<1x8xf32>
}
)"));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->opset, 21);
}

constexpr std::string_view kSwish = R"(
graph(%x: tensor<1x8xf32>) -> (%y) opset("": 13) {
  %x.q = Quantize(%x) : tensor<1x8xu8, scale=0.5, zp=3>
  %y.q = Swish@"silu"(%x.q) {alpha=1.5} : tensor<1x8xu8, scale=0.25, zp=7>
  %y = Dequantize(%y.q) : tensor<1x8xf32>
}
)";

TEST(Export, SwishIsDecomposedBelowOpset24BetweenItsQuantizedValues) {
  const auto exported = ExportModel(Parsed(kSwish));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->opset, 13);
  EXPECT_THAT(NodesOf(*exported),
              ElementsAre("QuantizeLinear(x, x.scale, x.zero_point) -> x.q",
                          "DequantizeLinear(x.q, x.scale, x.zero_point) -> x.dq",
                          "Mul(x.dq, y.q.alpha) -> y.float.scaled",
                          "Sigmoid(y.float.scaled) -> y.float.sigmoid",
                          "Mul(x.dq, y.float.sigmoid) -> y.float",
                          "QuantizeLinear(y.float, y.scale, y.zero_point) -> y.q",
                          "DequantizeLinear(y.q, y.scale, y.zero_point) -> y"));
  const auto newer = ExportModel(Parsed(kSwish), {.opset = 24});
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_THAT(NodesOf(*newer), Contains("Swish(x.dq) -> y.float"));
}

TEST(Export, SwishIsOneIntegerOperatorWhenImportedAgain) {
  for (const int64_t opset : {13, 24}) {
    const auto exported = ExportModel(Parsed(kSwish), {.opset = opset});
    ASSERT_TRUE(exported) << exported.error().message;
    const auto imported = test::ImportFolded(Blob(exported->model));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(Printed(imported->graph), HasSubstr("%y.q = Swish@\"silu\"(%x.q) {alpha=1.5}"));
    EXPECT_EQ(CountOf(imported->findings, "fold-qdq/integer-op"), 1);
  }
}

// ONNX has no norm operator with an epsilon, so every opset exports its decomposition; import
// recognizes it again.
TEST(Export, NormWithAnEpsilonIsOneIntegerOperatorWhenImportedAgain) {
  for (const std::string_view mode : {"max", "add", "inside"}) {
    for (const int64_t opset : {13, 18, 24}) {
      const auto exported = ExportModel(Parsed(fmt::format(R"(
graph(%x: tensor<2x8xf32>) -> (%y) opset("": 13) {{
  %x.q = Quantize(%x) : tensor<2x8xu8, scale=0.5, zp=3>
  %y.q = LpNormalization@"n"(%x.q) {{axis=1, epsilon=0.25, epsilon_mode="{}", p=2}} : tensor<2x8xu8, scale=0.0078125, zp=128>
  %y = Dequantize(%y.q) : tensor<2x8xf32>
}}
)",
                                                           mode)),
                                        {.opset = opset});
      ASSERT_TRUE(exported) << exported.error().message;
      EXPECT_THAT(NodesOf(*exported),
                  Contains("Div(x.dq, y.float." + std::string(mode == "inside" ? "root" : "kept") +
                           ") -> y.float"));
      const auto imported = test::ImportFolded(Blob(exported->model));
      ASSERT_TRUE(imported) << imported.error().message;
      EXPECT_THAT(Printed(imported->graph),
                  HasSubstr(fmt::format("%y.q = LpNormalization@\"n\"(%x.q) {{axis=1, "
                                        "epsilon=0.25, epsilon_mode=\"{}\", p=2}}",
                                        mode)));
    }
  }
}

TEST(Export, RmsNormIsOneIntegerOperatorWhenImportedAgain) {
  for (const int64_t opset : {13, 18, 24}) {
    const auto exported = ExportModel(Parsed(R"(
graph(%x: tensor<2x8xf32>) -> (%y) opset("": 13) {
  const %g = random(1) : tensor<8xf32>
  %x.q = Quantize(%x) : tensor<2x8xu8, scale=0.5, zp=3>
  %y.q = RMSNormalization@"n"(%x.q, %g) {axis=1, epsilon=0.25} : tensor<2x8xu8, scale=0.0078125, zp=128>
  %y = Dequantize(%y.q) : tensor<2x8xf32>
}
)"),
                                      {.opset = opset});
    ASSERT_TRUE(exported) << exported.error().message;
    EXPECT_THAT(NodesOf(*exported), Contains(opset < 23 ? "Mul(y.float.normal, g) -> y.float"
                                                        : "RMSNormalization(x.dq, g) -> y.float"));
    const auto imported = test::ImportFolded(Blob(exported->model));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(Printed(imported->graph),
                HasSubstr("%y.q = RMSNormalization@\"n\"(%x.q, %g) {axis=1, epsilon=0.25}"));
  }
}

TEST(Export, LargeWeightsGoToAnExternalFile) {
  const ir::Graph graph = Parsed(R"(
graph(%x: tensor<1x512xf32>) -> (%y) opset("": 13) {
  const %w = random(1) : tensor<512x4xf32>
  %y = MatMul(%x, %w) : tensor<1x4xf32>
}
)");
  const auto exported = ExportModel(graph, {.external_limit = 4096});
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->external.size(), 512u * 4 * 4);
  EXPECT_LT(exported->model.size(), 1000u);
  const auto imported = test::ImportFolded(
      Blob(exported->model), {.external = {{"model.onnx.data", Blob(exported->external)}}});
  ASSERT_TRUE(imported) << imported.error().message;
  const ir::ValueId w = graph.Find("w");
  EXPECT_EQ(imported->graph.value(imported->graph.Find("w")).constant->tensor,
            graph.value(w).constant->tensor);
}

TEST(Export, OriginalNamesOfAnImportedModelLeadToTheirValues) {
  const auto exported = ExportModel(Parsed(kConv));
  ASSERT_TRUE(exported);
  const auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  const ir::Graph& graph = imported->graph;
  EXPECT_EQ(graph.Resolve("y.float"), graph.Find("y.q"));
  EXPECT_EQ(graph.Resolve("x.dq"), graph.Find("x.q"));
  EXPECT_EQ(graph.Resolve("w.q"), graph.Find("w"));
  EXPECT_EQ(CountOf(imported->findings, "fold-qdq/integer-op"), 1);
}

}  // namespace
}  // namespace octavo::onnx

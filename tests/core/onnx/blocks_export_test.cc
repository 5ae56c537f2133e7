// SPDX-License-Identifier: Apache-2.0
// Weights in blocks and of 4 bits in an exported model.
#include "core/onnx/export/export.h"

#include <gmock/gmock.h>

#include "core/ir/qdq_notes.h"
#include "core/onnx/wire/model_proto.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

// A weight in blocks, of an odd number of elements; the zero points of %v are not 0.
constexpr std::string_view kBlocks = R"(graph@"g"(%x: tensor<1x3xf32>) -> (%y) opset(ai.onnx: 17) {
  const %w = [7, -8, 0, 1, 2, 3, 4, 5, -1] : tensor<3x3xi4, axis=0, block=2, scale=[0.5, -1, 0, 3, 4, 5], zp=0>
  const %v = [15, 8, 0] : tensor<3x1xu4, axis=0, block=3, scale=[0.5], zp=8>
  %w.dq = Dequantize(%w) : tensor<3x3xf32>
  %h = MatMul(%x, %w.dq) : tensor<1x3xf32>
  %v.dq = Dequantize(%v) : tensor<3x1xf32>
  %y = MatMul(%h, %v.dq) : tensor<1x1xf32>
}
)";

TEST(Export, BlocksAreStoredInFourBitsAndComeBack) {
  const auto exported = ExportModel(Parsed(kBlocks));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->opset, 21);
  EXPECT_EQ(exported->ir_version, 10);
  ASSERT_TRUE(exported->raised_for);
  EXPECT_EQ(exported->raised_for->op, "DequantizeLinear");
  EXPECT_THAT(
      NodesOf(*exported),
      ElementsAre("DequantizeLinear(w.q, w.scale) -> w", "MatMul(x, w) -> h",
                  "DequantizeLinear(v.q, v.scale, v.zero_point) -> v", "MatMul(h, v) -> y"));
  const auto parsed = ParseModel(Blob(exported->model));
  ASSERT_TRUE(parsed);
  std::map<std::string, std::pair<int, int64_t>> stored;
  const auto& graph = parsed->model.graph();
  for (const auto& tensor : graph.initializer()) {
    stored[tensor.name()] = {tensor.data_type(), parsed->views[tensor.view(0)].bytes.size()};
  }
  using Wire = onnx_wire::Tensor;
  EXPECT_EQ(stored["w.q"], std::pair(int{Wire::INT4}, int64_t{5}));
  EXPECT_EQ(stored["v.q"], std::pair(int{Wire::UINT4}, int64_t{2}));
  EXPECT_EQ(stored["v.zero_point"], std::pair(int{Wire::UINT4}, int64_t{1}));
  ASSERT_EQ(graph.node(0).attribute_size(), 2);
  EXPECT_EQ(graph.node(0).attribute(0).i(), 0);  // axis
  EXPECT_EQ(graph.node(0).attribute(1).name(), "block_size");
  EXPECT_EQ(graph.node(0).attribute(1).i(), 2);
  // The opset is raised, and nothing else differs.
  std::string expected(kBlocks);
  expected.replace(expected.find("ai.onnx: 17"), 11, "ai.onnx: 21");
  EXPECT_EQ(ThereAndBack(Parsed(kBlocks)), expected);
}

TEST(Export, BlocksNeedOpset21) {
  const auto exported = ExportModel(Parsed(kBlocks), {.opset = 17});
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().message,
            "DequantizeLinear 'w' cannot be written at opset 17; it needs 21");
}

// ONNX Runtime fuses a matrix with the inputs of an output along the first axis.
TEST(Export, BlocksOfAGemmAreTransposedForTheRuntime) {
  const ir::Graph graph = Parsed(R"(graph@"g"(%x: tensor<1x2xf32>) -> (%y) opset(ai.onnx: 21) {
  const %w = [1, 2, 3, 4] : tensor<2x2xi4, axis=0, block=2, scale=[0.5, -1], zp=[0, 1]>
  const %v = [1, -8, 3, 7, 5, 6] : tensor<3x2xi4, axis=1, block=2, scale=[1, 2, 3], zp=[0, 1, 2]>
  %w.dq = Dequantize(%w) : tensor<2x2xf32>
  %a = MatMul(%x, %w.dq) : tensor<1x2xf32>
  %b = MatMul(%a, %w.dq) : tensor<1x2xf32>
  %v.dq = Dequantize(%v) : tensor<3x2xf32>
  %y = Gemm(%b, %v.dq) {transB=1} : tensor<1x3xf32>
}
)");
  const auto exported = ExportModel(graph);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_THAT(
      NodesOf(*exported),
      ElementsAre("DequantizeLinear(w.q, w.scale, w.zero_point) -> w", "MatMul(x, w) -> a",
                  "MatMul(a, w) -> b", "DequantizeLinear(v.t.q, v.t.scale, v.t.zero_point) -> v.t",
                  "Gemm(b, v.t) -> y"));
  auto imported = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = Printed(imported->graph);
  EXPECT_THAT(text, HasSubstr("[1, 3, 5, -8, 7, 6] : tensor<2x3xi4, axis=0, block=2, "
                              "scale=[1, 2, 3], zp=[0, 1, 2]>"));
  EXPECT_THAT(text, HasSubstr("[1, 2, 3, 4] : tensor<2x2xi4, axis=0, block=2, scale=[0.5, -1], "
                              "zp=[0, 1]>"));
  const auto again = ExportModel(imported->graph);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(NodesOf(*again), NodesOf(*exported));
}

}  // namespace
}  // namespace octavo::onnx

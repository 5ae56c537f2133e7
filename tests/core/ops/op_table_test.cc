// SPDX-License-Identifier: Apache-2.0
// The op table: what every row must have, and the Rescale rules per op.
#include "core/ops/op_table.h"

#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using AtInput = ir::RescaleRule::AtInput;
using AtOutput = ir::RescaleRule::AtOutput;
using Kind = ir::QuantRule::Kind;
using ir::DType;

TEST(OpTable, IsSortedWithoutRepetitionAndFindsEveryRow) {
  for (size_t i = 0; i < AllOps().size(); ++i) {
    const ir::OpDef* op = AllOps()[i];
    EXPECT_EQ(FindOp(op->name, op->domain), op) << op->name;
    if (i == 0) continue;
    const ir::OpDef* before = AllOps()[i - 1];
    EXPECT_LT(std::pair(before->domain, before->name), std::pair(op->domain, op->name));
  }
}

TEST(OpTable, KnowsOnnxsDomainByBothNames) {
  EXPECT_EQ(FindOp("Conv", "ai.onnx"), FindOp("Conv"));
  EXPECT_NE(FindOp("Rescale", "octavo"), nullptr);
  EXPECT_EQ(FindOp("Rescale"), nullptr);
  EXPECT_EQ(FindOp("NoSuchOp"), nullptr);
}

TEST(OpTable, EveryRowInfersComputesAndHasAReasonToStayFloat) {
  for (const ir::OpDef* op : AllOps()) {
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_NE(op->definition, nullptr) << op->name;
    EXPECT_TRUE(op->quant.kind != Kind::kFloatOnly || !op->quant.why.empty()) << op->name;
    EXPECT_TRUE(op->quant.kind != Kind::kFixed || op->quant.range.min < op->quant.range.max)
        << op->name;
  }
}

TEST(OpTable, RescaleRulesFollowFromTheOpsMath) {
  for (const std::string_view name :
       {"Conv",       "ConvTranspose", "Gemm", "MatMul",      "Add",
        "Sub",        "Mul",           "Div",  "AveragePool", "GlobalAveragePool",
        "ReduceMean", "Sigmoid",       "Tanh", "Gelu",        "HardSwish",
        "Swish",      "Relu",          "Clip", "Min",         "Max"}) {
    EXPECT_EQ(DataOp(name).rescale.at_input, AtInput::kFold) << name;
    EXPECT_EQ(DataOp(name).rescale.at_output, AtOutput::kFold) << name;
  }
  for (const std::string_view name : {"Softmax", "LayerNormalization", "RMSNormalization"}) {
    EXPECT_EQ(DataOp(name).rescale.at_input, AtInput::kFold) << name;
  }
  for (const std::string_view name : {"MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin"}) {
    EXPECT_EQ(DataOp(name).quant.kind, Kind::kSameScale) << name;
    EXPECT_EQ(DataOp(name).rescale.at_input, AtInput::kSink) << name;
    EXPECT_EQ(DataOp(name).rescale.at_output, AtOutput::kHoist) << name;
  }
  const ir::OpDef& quantize = *FindOp("Quantize", "octavo");
  EXPECT_EQ(quantize.rescale.at_output, AtOutput::kFold);
  EXPECT_EQ(FindOp("Dequantize", "octavo")->rescale.at_input, AtInput::kFold);
}

TEST(OpTable, FixedRangesHoldWhateverComesIn) {
  const ir::Tensor x = Row({-1e30f, -100, -3, -1, -0.1f, 0, 0.1f, 1, 3, 100, 1e30f});
  for (const ir::OpDef* op : AllOps()) {
    if (op->quant.kind != Kind::kFixed) continue;
    const auto results = RunCase({op->name, {x}});
    ASSERT_TRUE(results) << op->name;
    for (const float value : (*results)[0].values<float>()) {
      EXPECT_GE(value, op->quant.range.min) << op->name;
      EXPECT_LE(value, op->quant.range.max) << op->name;
    }
  }
}

// A graph with one node, whose operands have the given shapes.
struct OneNode {
  OneNode(std::string_view op, const std::vector<ir::Shape>& shapes, const ir::AttrMap& attributes,
          size_t results = 1) {
    std::vector<ir::ValueId> ids;
    for (size_t i = 0; i < shapes.size(); ++i) {
      ids.push_back(graph.AddInput(fmt::format("x{}", i), {DType::kF32, shapes[i], {}, {}}));
    }
    auto types = ir::InferNode(graph, DataOp(op), "n", ids, attributes, results);
    if (!types) ADD_FAILURE() << types.error().message;
    if (!types) return;
    ir::Graph::Definition definition{.op = &DataOp(op), .inputs = ids, .attributes = attributes};
    for (size_t i = 0; i < results; ++i) {
      definition.results.push_back({fmt::format("y{}", i), (*types)[i]});
    }
    id = graph.AddNode(std::move(definition));
  }
  int WeightAxis() const { return node().op->weight_axis(graph, node(), 1); }
  std::string WhyNot() const { return node().op->rescale.why_not(graph, node(), {}, {}); }
  const ir::Node& node() const { return graph.node(id); }

  ir::Graph graph;
  ir::NodeId id;
};

TEST(OpTable, EachProductNamesItsOwnWeightAxis) {
  EXPECT_EQ(OneNode("Conv", {{1, 2, 4, 4}, {3, 2, 1, 1}}, {}).WeightAxis(), 0);
  EXPECT_EQ(OneNode("ConvTranspose", {{1, 2, 4, 4}, {2, 3, 1, 1}}, {}).WeightAxis(), 1);
  EXPECT_EQ(OneNode("Gemm", {{1, 2}, {2, 3}}, {}).WeightAxis(), 1);
  EXPECT_EQ(OneNode("Gemm", {{1, 2}, {3, 2}}, {{"transB", int64_t{1}}}).WeightAxis(), 0);
  EXPECT_EQ(OneNode("MatMul", {{1, 2}, {2, 3}}, {}).WeightAxis(), 1);
  EXPECT_EQ(OneNode("MatMul", {{5, 1, 2}, {5, 2, 3}}, {}).WeightAxis(), 2);
  EXPECT_EQ(OneNode("MatMul", {{1, 2}, {2}}, {}).WeightAxis(), -1);
}

TEST(OpTable, MaxPoolKeepsARescaleThatCouldChangeItsIndices) {
  const ir::AttrMap two = {{"kernel_shape", Ints{2}}};
  EXPECT_EQ(OneNode("MaxPool", {{1, 1, 4}}, two).WhyNot(), "");
  EXPECT_EQ(OneNode("MaxPool", {{1, 1, 4}}, two, 2).WhyNot(),
            "its indices result may change where rounding makes ties");
  EXPECT_EQ(
      OneNode("MaxPool", {{1, 1, 4}}, {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}}).WhyNot(),
      "a window lies wholly in the padding");
}

TEST(OpTable, OpsWithParametersStayFloatWhereTheyAreNotConstant) {
  const OneNode pow("Pow", {{2}, {}}, {}), clip("Clip", {{2}, {}}, {}), free("Clip", {{2}}, {});
  EXPECT_EQ(pow.node().op->QuantOf(pow.graph, pow.node()).why, "its exponent is not one constant");
  EXPECT_EQ(clip.node().op->QuantOf(clip.graph, clip.node()).why, "its bounds are not constant");
  EXPECT_EQ(free.node().op->QuantOf(free.graph, free.node()).kind, Kind::kFree);
}

}  // namespace
}  // namespace octavo::ops

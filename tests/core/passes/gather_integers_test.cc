// SPDX-License-Identifier: Apache-2.0
// merge-constants/gather-integers on random tables: the rows that it gathers have the bits of the
// dequantized table's.
#include <gtest/gtest.h>

#include "core/ir/verify.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/runtime/plan.h"
#include "core/text/print.h"
#include "tests/core/properties/dice.h"

namespace octavo::passes {
namespace {

using ir::DType;
using ir::Graph;
using ir::NodeId;
using ir::Shape;
using ir::Tensor;
using ir::ValueId;
using test::Dice;

ir::Type DrawTableType(Dice& dice) {
  Shape shape;
  for (int64_t rank = dice.Between(1, 3); rank > 0; --rank) shape.push_back(dice.Between(1, 6));
  const auto axis = static_cast<int>(dice.Below(static_cast<int64_t>(shape.size())));
  shape[axis] = std::max<int64_t>(shape[axis], 2);  // a table of one row has no axis
  const std::vector<DType> dtypes = {DType::kI8, DType::kU8, DType::kI16, DType::kU16};
  const DType dtype = dice.Pick(dtypes);
  const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
  const bool centered = dice.Chance(40);
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  for (int64_t i = 0; i < shape[axis]; ++i) {
    scales.push_back(static_cast<float>(dice.Real(1e-4, 2)));
    zero_points.push_back(centered ? 0 : static_cast<int32_t>(dice.Between(range.min, range.max)));
  }
  return {dtype, shape, ir::Quant::PerAxis(axis, scales, zero_points), {}};
}

Tensor DrawElements(Dice& dice, const ir::Type& type) {
  Tensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.bytes(); ++i) {
    tensor.mutable_raw()[i] = static_cast<std::byte>(dice.Below(256));
  }
  return tensor;
}

struct Case {
  Graph graph = {};
  Tensor indices = {};
};

// Gather(Dequantize(table), indices), once or twice, along the axis of the table's parameters.
Case DrawCase(Dice& dice) {
  Case made;
  const ir::Type type = DrawTableType(dice);
  Shape chosen;
  for (int64_t rank = dice.Between(0, 2); rank > 0; --rank) chosen.push_back(dice.Between(1, 4));
  made.indices = Tensor(DType::kI64, chosen);
  const int64_t rows = type.shape[*type.quant->axis];
  for (int64_t& index : made.indices.mutable_values<int64_t>()) {
    index = dice.Between(-rows, rows - 1);
  }
  Graph& graph = made.graph;
  graph.opsets[""] = 13;
  const ValueId at = graph.AddInput("at", {DType::kI64, chosen, {}, {}});
  const ValueId table = graph.AddConstant("table", ir::MakePayload(DrawElements(dice, type)), type);
  const NodeId real = graph.AddNode({.op = ops::FindOp("Dequantize", "octavo"),
                                     .inputs = {table},
                                     .results = {{"table.dq", type.Expressed()}}});
  const auto axis = type.shape.begin() + *type.quant->axis;
  Shape shape(type.shape.begin(), axis);
  shape.insert(shape.end(), chosen.begin(), chosen.end());
  shape.insert(shape.end(), axis + 1, type.shape.end());
  for (int64_t count = dice.Between(1, 2), i = 0; i < count; ++i) {
    const int64_t back = dice.Chance(30) ? static_cast<int64_t>(type.shape.size()) : 0;
    const NodeId gather =
        graph.AddNode({.op = ops::FindOp("Gather"),
                       .inputs = {graph.node(real).result(), at},
                       .attributes = {{"axis", int64_t{*type.quant->axis} - back}},
                       .results = {{fmt::format("y{}", i), {DType::kF32, shape, {}, {}}}}});
    graph.AddOutput(graph.node(gather).result());
  }
  return made;
}

TEST(GatherIntegers, GivesTheBitsOfTheDequantizedTable) {
  ThreadPool pool(1);
  const Pass* pipeline[] = {FindPass("merge-constants")};
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    const Case made = DrawCase(dice);
    ASSERT_TRUE(ir::Verify(made.graph)) << text::Print(made.graph);
    Graph after = made.graph;
    Findings findings;
    ASSERT_TRUE(RunPipeline(pipeline, {}, {.pool = &pool}, after, findings));
    ASSERT_EQ(findings.ledger.size(), made.graph.outputs().size()) << text::Print(made.graph);
    for (const NodeId id : after.nodes()) EXPECT_NE(after.node(id).op->name, "Dequantize");
    std::vector<std::vector<Tensor>> results;
    for (const Graph* graph : {&made.graph, static_cast<const Graph*>(&after)}) {
      auto plan = runtime::Plan::Create(*graph, {}, pool);
      ASSERT_TRUE(plan) << plan.error().message;
      auto run = plan->Run({made.indices}, pool);
      ASSERT_TRUE(run) << run.error().message;
      results.push_back(*std::move(run));
    }
    ASSERT_EQ(results[0], results[1]) << "seed " << seed << "\n" << text::Print(after);
  }
}

}  // namespace
}  // namespace octavo::passes

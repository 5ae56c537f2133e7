// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/run.h"

#include <gtest/gtest.h>

#include <map>

#include "core/ir/infer.h"
#include "core/ops/op_table.h"
#include "core/ops/quantize_math.h"

namespace octavo::float_exec {
namespace {

using ir::DType;
using ir::Quant;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

Tensor Ramp(const ir::Shape& shape, float step) {
  Tensor tensor(DType::kF32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.mutable_values<float>()[i] = step * static_cast<float>(i % 23 - 11);
  }
  return tensor;
}

ValueId Add(ir::Graph& graph, std::string_view op, const std::vector<ValueId>& inputs,
            const std::string& name, const Type& type, std::string_view domain = "") {
  const ir::NodeId id =
      graph.AddNode({.op = ops::FindOp(op, domain), .inputs = inputs, .results = {{name, type}}});
  return graph.node(id).result();
}

Type Real(ir::Shape shape) { return {DType::kF32, std::move(shape), {}, {}}; }

// y = Relu(Conv(x, w)), z = y + s, where s = 1 + 1 depends only on constants.
ir::Graph FloatGraph() {
  ir::Graph graph;
  const ValueId x = graph.AddInput("x", Real({1, 2, 6, 6}));
  const ValueId w = graph.AddConstant("w", Ramp({4, 2, 3, 3}, 0.1f));
  const ValueId one = graph.AddConstant("one", Tensor::Scalar<float>(1));
  const ValueId conv = Add(graph, "Conv", {x, w}, "conv", Real({1, 4, 4, 4}));
  const ValueId y = Add(graph, "Relu", {conv}, "y", Real({1, 4, 4, 4}));
  const ValueId two = Add(graph, "Add", {one, one}, "two", Real({}));
  graph.AddOutput(Add(graph, "Add", {y, two}, "z", Real({1, 4, 4, 4})));
  graph.AddOutput(y);
  graph.AddOutput(two);
  return graph;
}

TEST(Session, RunsEveryNodeAndShowsEveryValueOnce) {
  const ir::Graph graph = FloatGraph();
  auto session = Session::Create(graph);
  ASSERT_TRUE(session) << session.error().message;
  std::vector<std::string> order;
  std::map<std::string, Tensor> values;
  ThreadPool pool(2);
  const auto outputs =
      session->Run({Ramp({1, 2, 6, 6}, 0.3f)}, pool, {}, [&](ValueId id, const Tensor& tensor) {
        order.push_back(graph.name(id));
        values[graph.name(id)] = tensor.Clone();
      });
  ASSERT_TRUE(outputs);
  EXPECT_EQ(order, (std::vector<std::string>{"conv", "y", "two", "z"}));
  EXPECT_EQ((*outputs)[0], values["z"]);
  EXPECT_EQ((*outputs)[1], values["y"]);
  EXPECT_EQ((*outputs)[2], Tensor::Scalar<float>(2));
  for (int64_t i = 0; i < values["z"].size(); ++i) {
    EXPECT_EQ(values["z"].values<float>()[i],
              std::max(values["conv"].values<float>()[i], 0.0f) + 2);
  }
}

TEST(Session, OutputsOutliveTheNextRunAndDoNotDependOnThreads) {
  const ir::Graph graph = FloatGraph();
  auto session = Session::Create(graph);
  ASSERT_TRUE(session);
  ThreadPool one(1), three(3);
  const Tensor a = Ramp({1, 2, 6, 6}, 0.3f), b = Ramp({1, 2, 6, 6}, -0.7f);
  const auto first = session->Run({a}, one);
  const Tensor before = (*first)[0].Clone();
  const auto second = session->Run({b}, one);
  EXPECT_EQ((*first)[0], before);
  EXPECT_NE((*second)[0], before);
  EXPECT_EQ((*session->Run({a}, three))[0], before);
}

TEST(Session, QuantizedNodesDequantizeComputeAndQuantize) {
  ir::Graph graph;
  const Type type{DType::kI8, {4}, Quant::PerTensor(0.5f, 3), {}};
  const Type sums{DType::kU8, {4}, Quant::PerTensor(0.25f, 100), {}};
  const ValueId plain = graph.AddInput("plain", {DType::kI8, {4}, {}, {}});
  const ValueId x = graph.AddInput("x", Real({4}));
  const ValueId a = Add(graph, "Reinterpret", {plain}, "a", type, "octavo");
  const ValueId b = Add(graph, "Quantize", {x}, "b", type, "octavo");
  const ValueId sum = Add(graph, "Add", {a, b}, "sum", sums);
  const ValueId scaled = Add(graph, "Rescale", {sum}, "scaled", type, "octavo");
  graph.AddOutput(Add(graph, "Dequantize", {scaled}, "y", Real({4}), "octavo"));
  graph.AddOutput(a);
  auto session = Session::Create(graph);
  ASSERT_TRUE(session) << session.error().message;
  const Tensor in_stored = Tensor::Of<int8_t>({4}, {-128, 3, 5, 127});
  const Tensor in_floats = Tensor::Of<float>({4}, {0.25f, -1.2f, 0.75f, 100});
  ThreadPool pool(1);
  const auto outputs = session->Run({in_stored, in_floats}, pool);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[1], in_stored);
  const auto round = [](float real, const Type& to) {
    const float scale = to.quant->scale();
    const int32_t zero = to.quant->zero_point();
    return ops::DequantizeOne(ops::QuantizeOne(real, scale, zero, ir::IntegerRangeOf(to.dtype)),
                              scale, zero);
  };
  for (int i = 0; i < 4; ++i) {
    const float left = ops::DequantizeOne(in_stored.values<int8_t>()[i], 0.5f, 3);
    const float right = round(in_floats.values<float>()[i], type);
    EXPECT_EQ((*outputs)[0].values<float>()[i], round(round(left + right, sums), type));
  }
}

TEST(Session, WrongInputsAreNamed) {
  const ir::Graph graph = FloatGraph();
  auto session = Session::Create(graph);
  ASSERT_TRUE(session);
  ThreadPool pool(1);
  const auto outputs = session->Run({Tensor(DType::kF32, {1, 2, 6, 5})}, pool);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::kInvalidArgument);
  EXPECT_EQ(outputs.error().field, "x");
}

TEST(Session, StopsWhenAsked) {
  const ir::Graph graph = FloatGraph();
  auto session = Session::Create(graph);
  ASSERT_TRUE(session);
  ThreadPool pool(1);
  const StopToken stop;
  stop.RequestStop();
  const auto outputs = session->Run({Ramp({1, 2, 6, 6}, 1)}, pool, stop);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::kCancelled);
}

TEST(Evaluate, ComputesOneNodeOnExpressedOperands) {
  const ir::Graph graph = FloatGraph();
  const ir::Node& conv = graph.node(graph.first());
  const Tensor x = Ramp({1, 2, 6, 6}, 0.3f), w = Ramp({4, 2, 3, 3}, 0.1f);
  ThreadPool pool(2);
  const auto results = Evaluate(conv, {&x, &w}, {graph.type(conv.result())}, pool);
  ASSERT_TRUE(results);
  auto session = Session::Create(graph);
  Tensor expected;
  const auto outputs = session->Run({x}, pool, {}, [&](ValueId id, const Tensor& tensor) {
    if (id == conv.result()) expected = tensor.Clone();
  });
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*results)[0], expected);
}

}  // namespace
}  // namespace octavo::float_exec

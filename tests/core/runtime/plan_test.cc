// SPDX-License-Identifier: Apache-2.0
// Whole plans: layouts change only at borders, constants are folded, and results do not depend on
// threads, instruction sets or concurrent runs.
#include "core/runtime/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using ir::Type;
using ir::ValueId;
using Ints = std::vector<int64_t>;

constexpr ir::OpDef kQuantize{.name = "Quantize", .domain = "octavo", .since = ir::kNotInOnnx};
constexpr ir::OpDef kDequantize{.name = "Dequantize", .domain = "octavo", .since = ir::kNotInOnnx};
constexpr ir::OpDef kConv{.name = "Conv", .since = ir::kNotInOnnx};
constexpr ir::OpDef kAdd{.name = "Add", .since = ir::kNotInOnnx};
constexpr ir::OpDef kMaxPool{.name = "MaxPool", .since = ir::kNotInOnnx};
constexpr ir::OpDef kGlobalAveragePool{.name = "GlobalAveragePool", .since = ir::kNotInOnnx};

// x -> Quantize -> Conv -> (Conv, +) -> MaxPool -> GlobalAveragePool -> Dequantize, with pending
// weights of the second Conv.
class Network {
 public:
  Network() {
    const Type real{DType::kF32, {1, 3, 8, 8}, {}, {}};
    const ValueId x = graph_.AddInput("x", real);
    const ValueId q = Node(kQuantize, {x}, {}, "x.q", U8Type({1, 3, 8, 8}));
    const ValueId w1 = Constant("w1", ChannelType(DType::kI8, {16, 3, 3, 3}, 0, 0.003f));
    const ValueId a = Node(kConv, {q, w1}, Pads(), "a", U8Type({1, 16, 8, 8}));
    const Type w2{DType::kF32, {16, 16, 3, 3}, {}, {}};
    const ValueId pending = Constant("w2.float", w2);
    const ValueId weights = Node(kQuantize, {pending}, {}, "w2",
                                 {DType::kI8, w2.shape, ir::Quant::PerTensor(0.1f, 0), {}});
    const ValueId b = Node(kConv, {a, weights}, Pads(), "b", U8Type({1, 16, 8, 8}));
    const ValueId sum = Node(kAdd, {a, b}, {}, "sum", U8Type({1, 16, 8, 8}));
    const ValueId pool =
        Node(kMaxPool, {sum}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "pool",
             U8Type({1, 16, 4, 4}));
    const ValueId mean = Node(kGlobalAveragePool, {pool}, {}, "mean", U8Type({1, 16, 1, 1}));
    graph_.AddOutput(Node(kDequantize, {mean}, {}, "y", {DType::kF32, {1, 16, 1, 1}, {}, {}}));
    graph_.AddOutput(sum);
  }

  const ir::Graph& graph() const { return graph_; }
  Tensor Input(uint32_t seed) const {
    return RandomElements(graph_.type(graph_.inputs()[0]), seed);
  }

 private:
  static Type U8Type(ir::Shape shape) {
    return QuantType(DType::kU8, std::move(shape), 0.08f, 120);
  }
  static ir::AttrMap Pads() { return {{"pads", Ints{1, 1, 1, 1}}}; }
  ValueId Constant(const std::string& name, const Type& type) {
    return graph_.AddConstant(name, ir::MakePayload(RandomElements(type, 7)), type);
  }
  ValueId Node(const ir::OpDef& op, std::vector<ValueId> inputs, ir::AttrMap attributes,
               const std::string& name, const Type& type) {
    const ir::NodeId id = graph_.AddNode({.op = &op,
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = {{name, type}}});
    return graph_.node(id).result();
  }

  ir::Graph graph_;
};

std::vector<Tensor> RunPlan(const ir::Graph& graph, const Tensor& input, int threads,
                            const Watcher& watch = {},
                            std::vector<StepProfile>* profile = nullptr) {
  ThreadPool pool(threads);
  auto plan = Plan::Create(graph, {.keep_all_values = static_cast<bool>(watch)}, pool);
  EXPECT_TRUE(plan) << plan.error().message;
  auto results = plan->Run({input}, pool, {}, watch, profile);
  EXPECT_TRUE(results) << results.error().message;
  return *results;
}

TEST(Plan, ResultsDoNotDependOnThreadsOrInstructionSets) {
  const Network network;
  const auto expected = RunPlan(network.graph(), network.Input(1), 1);
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(RunPlan(network.graph(), network.Input(1), threads), expected);
    }
  }
}

TEST(Plan, AnAddFusedIntoAConvolutionHasTheSameBits) {
  const Network network;
  ThreadPool pool(2);
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    const auto apart = Plan::Create(network.graph(), {.keep_all_values = true}, pool);
    const auto fused = Plan::Create(network.graph(), {}, pool);
    ASSERT_TRUE(apart && fused);
    EXPECT_LT(fused->workspace_bytes(), apart->workspace_bytes() + 1);
    for (const uint32_t seed : {1, 2, 3}) {
      EXPECT_EQ(*fused->Run({network.Input(seed)}, pool), *apart->Run({network.Input(seed)}, pool));
    }
  }
}

// y = (x w1 + one row) w2 + the previous sum, with unrelated types.
TEST(Plan, AnAddFusedIntoAMatMulHasTheSameBits) {
  constexpr ir::OpDef kMatMul{.name = "MatMul", .since = ir::kNotInOnnx};
  for (const auto& [dtype, zero] : {std::pair(DType::kU8, 131), {DType::kI8, -9}}) {
    ir::Graph graph;
    const auto quantized = [&, type = dtype, at = zero](Shape shape, float scale) {
      return QuantType(type, std::move(shape), scale, at);
    };
    const auto constant = [&](const std::string& name, const Type& type) {
      return graph.AddConstant(name, ir::MakePayload(RandomElements(type, 5)), type);
    };
    const auto node = [&](const ir::OpDef& op, ValueId a, ValueId b, const std::string& name,
                          const Type& type) {
      const ir::NodeId id = graph.AddNode({.op = &op, .inputs = {a, b}, .results = {{name, type}}});
      return graph.node(id).result();
    };
    const ValueId x = graph.AddInput("x", quantized({3, 5, 37}, 0.03f));
    const ValueId w1 = constant("w1", QuantType(DType::kI8, {37, 70}, 0.004f, 0));
    const ValueId a = node(kMatMul, x, w1, "a", quantized({3, 5, 70}, 0.02f));
    const ValueId row = constant("row", QuantType(DType::kI8, {1, 70}, 0.011f, 3));
    const ValueId sum = node(kAdd, row, a, "sum", quantized({3, 5, 70}, 0.025f));
    const ValueId w2 = constant("w2", QuantType(DType::kU8, {70, 70}, 0.004f, 120));
    const ir::NodeId gelu = graph.AddNode({.op = ops::FindOp("Gelu"),
                                           .inputs = {sum},
                                           .results = {{"bent", quantized({3, 5, 70}, 0.02f)}}});
    const ValueId bent = graph.node(gelu).result();
    const ValueId b = node(kMatMul, bent, w2, "b", quantized({3, 5, 70}, 0.05f));
    graph.AddOutput(node(kAdd, b, bent, "y", QuantType(DType::kU8, {3, 5, 70}, 0.06f, 100)));
    const Tensor input = RandomElements(graph.type(x), 2);
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const auto apart = Plan::Create(graph, {.keep_all_values = true}, pool);
        const auto fused = Plan::Create(graph, {}, pool);
        ASSERT_TRUE(apart && fused);
        std::vector<StepProfile> profile;
        EXPECT_EQ(*fused->Run({input}, pool, {}, {}, &profile), *apart->Run({input}, pool));
        EXPECT_EQ(profile.size(), 2u);
        EXPECT_EQ(profile[0].op, "MatMul+Add+Table");
        EXPECT_EQ(profile[1].op, "MatMul+Add");
      }
    }
  }
}

// The same network node by node, with the last kernels of the table before the definition.
TEST(Plan, EqualsTheNodesOneByOne) {
  const Network network;
  const ir::Graph& graph = network.graph();
  std::map<std::string, Tensor> watched;
  RunPlan(graph, network.Input(1), 2,
          [&](ValueId id, const Tensor& tensor) { watched[graph.name(id)] = tensor.Clone(); });
  EXPECT_EQ(watched.size(), 8u);
  ThreadPool pool(1);
  FixedValues values = {{graph.inputs()[0], network.Input(1)}};
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    std::vector<Operand> operands;
    for (const ValueId input : node.inputs) operands.push_back({graph.type(input)});
    KernelCase test(*node.op, operands, node.attributes, {graph.type(node.result())});
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::Value& value = graph.value(node.inputs[i]);
      test.tensors[i] = value.constant ? value.constant->tensor : values.at(node.inputs[i]);
    }
    auto kernels = MatchingKernels(test.View());
    kernels.pop_back();
    const Kernel& kernel = *kernels.back();
    const bool last = kernel.layout == LayoutRule::kChannelsLast;
    values[node.result()] =
        RunKernel(test, kernel, last ? Layout::kChannelsLast : Layout::kPlain, pool)[0];
    EXPECT_EQ(watched.at(graph.name(node.result())), values[node.result()])
        << graph.name(node.result());
  }
}

TEST(Plan, ImagesChangeLayoutOnlyAtBorders) {
  const Network network;
  std::vector<StepProfile> profile;
  RunPlan(network.graph(), network.Input(1), 1, {}, &profile);
  std::vector<std::string> kernels;
  for (const StepProfile& step : profile) kernels.push_back(step.kernel);
  EXPECT_EQ(kernels,
            (std::vector<std::string>{"simd-quantize", "to-channels-last", "int8-conv", "int8-conv",
                                      "simd-max-pool", "simd-global-average-pool",
                                      "simd-dequantize", "to-plain"}));
  EXPECT_EQ(profile[3].op, "Conv+Add");
  EXPECT_EQ(profile[3].operations, 2.0 * 16 * 64 * 16 * 9);
  EXPECT_EQ(profile[3].isa, CurrentIsaName());
}

TEST(Plan, ConcurrentRunsAreIndependent) {
  const Network network;
  ThreadPool pool(2);
  const auto plan = Plan::Create(network.graph(), {}, pool);
  ASSERT_TRUE(plan);
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tensor input = network.Input(static_cast<uint32_t>(t));
      const auto expected = plan->Run({input}, pool);
      for (int i = 0; i < 20; ++i) good[t] += *plan->Run({input}, pool) == *expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 20));
}

TEST(Plan, WrongInputsAreNamed) {
  const Network network;
  ThreadPool pool(1);
  const auto plan = Plan::Create(network.graph(), {}, pool);
  ASSERT_TRUE(plan);
  const auto result = plan->Run({Tensor(DType::kF32, {1, 3, 8, 9})}, pool);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInvalidArgument);
  EXPECT_EQ(result.error().field, "x");
}

TEST(Plan, StopsWhenAsked) {
  const Network network;
  ThreadPool pool(1);
  const auto plan = Plan::Create(network.graph(), {}, pool);
  ASSERT_TRUE(plan);
  const StopToken stop;
  stop.RequestStop();
  const auto result = plan->Run({network.Input(1)}, pool, stop);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kCancelled);
}

TEST(Plan, WhatANumericsModeDoesNotDefineNamesTheNode) {
  const Network network;
  ThreadPool pool(1);
  const auto plan = Plan::Create(network.graph(), {.numerics = &numerics::kPow2}, pool);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::kUnimplemented);
  EXPECT_FALSE(plan.error().node.empty());
}

// A run uses a replacement instead of the value that it computed, in either layout.
TEST(Execution, ReplacedValuesAreWhatReadersGet) {
  const Network network;
  ThreadPool pool(2);
  auto plan = Plan::Create(network.graph(), {.keep_all_values = true}, pool);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto values_of = [&](const Tensor& input, const std::map<ValueId, Tensor>& given) {
    std::map<ValueId, Tensor> values;
    auto run = plan->Begin({input}, pool);
    EXPECT_TRUE(run);
    while (!run->done()) {
      const std::vector<ValueId> next = run->next();
      EXPECT_TRUE(run->Step({}));
      for (const ValueId id : next) {
        values[id] = run->Value(id).Clone();
        if (given.contains(id)) run->Replace(id, given.at(id));
      }
    }
    return values;
  };
  const auto first = values_of(network.Input(1), {});
  const auto second = values_of(network.Input(2), {});
  ASSERT_GT(first.size(), 5u);
  // Each node, run separately on the values of the second run, gives that run's results.
  const ValueId quantized = network.graph().Find("x.q");
  EXPECT_EQ(values_of(network.Input(1), second).at(quantized), first.at(quantized));
  for (const auto& [id, tensor] : values_of(network.Input(1), second)) {
    if (id == quantized) continue;
    EXPECT_EQ(tensor, second.at(id)) << network.graph().name(id);
  }
}

}  // namespace
}  // namespace octavo::runtime

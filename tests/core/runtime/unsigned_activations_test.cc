// SPDX-License-Identifier: Apache-2.0
// i8 activations stored as u8: the selected values, and equal bits of the results.
#include "core/runtime/plan/unsigned_activations.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Tensor;
using ir::Type;
using ir::ValueId;
using Ints = std::vector<int64_t>;

Type Image(int64_t channels, int64_t side, float scale, int32_t zero) {
  return QuantType(DType::kI8, {1, channels, side, side}, scale, zero);
}

struct Network {
  ir::Graph graph = {};

  ValueId Node(std::string_view op, std::vector<ValueId> inputs, const std::string& name,
               const Type& type, ir::AttrMap attributes = {}) {
    const ir::OpDef* row = ops::FindOp(op);
    if (row == nullptr) row = ops::FindOp(op, "octavo");
    const ir::NodeId id = graph.AddNode({.op = row,
                                         .inputs = std::move(inputs),
                                         .attributes = std::move(attributes),
                                         .results = {{name, type}}});
    return graph.node(id).result();
  }
  ValueId Constant(const std::string& name, const Type& type) {
    return graph.AddConstant(name, ir::MakePayload(RandomElements(type, 7)), type);
  }
  std::vector<std::string> Raised() const {
    std::vector<std::string> names;
    for (const ValueId id : SignedActivationsOf(graph)) names.push_back(graph.name(id));
    return names;
  }
};

// x -> x.q -> a = Conv -> joined = Concat(a, moved) -> sum = joined + joined -> shown; MaxPool, Pad
// and Softmax lead to `p`, a product of two activations.
Network MixedNetwork() {
  Network net;
  const ValueId x = net.graph.AddInput("x", {DType::kF32, {1, 3, 6, 6}, {}, {}});
  const ValueId q = net.Node("Quantize", {x}, "x.q", Image(3, 6, 0.1f, -7));
  const ValueId w = net.Constant("w", ChannelType(DType::kI8, {5, 3, 3, 3}, 0, 0.003f));
  const ValueId a =
      net.Node("Conv", {q, w}, "a", Image(5, 6, 0.05f, 11), {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId moved = net.Node("MaxPool", {a}, "moved", Image(5, 6, 0.05f, 11),
                                 {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId joined =
      net.Node("Concat", {a, moved}, "joined", Image(10, 6, 0.05f, 11), {{"axis", int64_t{1}}});
  const ValueId relu = net.Node("Relu", {joined}, "relu", Image(10, 6, 0.03f, -128));
  const ValueId row = net.Constant("row", QuantType(DType::kI8, {10, 1, 1}, 0.02f, -3));
  const ValueId more = net.Node("Add", {relu, row}, "more", Image(10, 6, 0.04f, -9));
  const ValueId sum = net.Node("Add", {joined, more}, "sum", Image(10, 6, 0.07f, 127));
  const ValueId soft = net.Node("Softmax", {sum}, "soft", Image(10, 6, 1.0f / 256, -128));
  const ValueId p = net.Node("MatMul", {soft, sum}, "p", Image(10, 6, 0.02f, 1));
  net.graph.AddOutput(net.Node("Dequantize", {p}, "y", {DType::kF32, {1, 10, 6, 6}, {}, {}}));
  return net;
}

TEST(UnsignedActivations, EveryInnerActivationIsUnsigned) {
  EXPECT_EQ(MixedNetwork().Raised(),
            (std::vector<std::string>{"x.q", "a", "moved", "joined", "relu", "more", "sum", "soft",
                                      "p", "row"}));
}

TEST(UnsignedActivations, ViewsOfGraphOutputsStaySigned) {
  Network net = MixedNetwork();
  net.graph.AddOutput(net.graph.Find("moved"));
  EXPECT_EQ(net.Raised(),
            (std::vector<std::string>{"x.q", "relu", "more", "sum", "soft", "p", "row"}));
}

TEST(UnsignedActivations, InputsConstantsAndPlainIntegersStaySigned) {
  Network net;
  const ValueId x = net.graph.AddInput("x", Image(2, 4, 0.1f, 0));
  const ValueId plain = net.graph.AddInput("plain", {DType::kI8, {1, 2, 4, 4}, {}, {}});
  const ValueId real =
      net.graph.AddConstant("w.float", RandomElements({DType::kF32, {2}, {}, {}}, 1));
  net.Node("Flatten", {x}, "flat", QuantType(DType::kI8, {1, 32}, 0.1f, 0));
  net.Node("Reinterpret", {plain}, "stored", Image(2, 4, 0.1f, 0));
  net.Node("Quantize", {real}, "w", QuantType(DType::kI8, {2}, 0.1f, 0));
  net.Node("Relu", {x}, "relu", Image(2, 4, 0.1f, 0));
  EXPECT_EQ(net.Raised(), (std::vector<std::string>{"relu"}));
}

TEST(UnsignedActivations, ResultsHaveTheSameBits) {
  const Network net = MixedNetwork();
  const Tensor input = RandomElements(net.graph.type(net.graph.inputs()[0]), 3);
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    ThreadPool pool(2);
    const auto raised = Plan::Create(net.graph, {}, pool);
    const auto plain = Plan::Create(net.graph, {.keep_all_values = true}, pool);
    ASSERT_TRUE(raised && plain);
    EXPECT_EQ(*raised->Run({input}, pool), *plain->Run({input}, pool));
    std::map<std::string, Tensor> seen;
    const auto watch = [&](ValueId id, const Tensor& value) {
      const auto [at, is_new] = seen.emplace(net.graph.name(id), value.Clone());
      EXPECT_TRUE(is_new || at->second == value) << net.graph.name(id);
    };
    ASSERT_TRUE(raised->Run({input}, pool, {}, watch) && plain->Run({input}, pool, {}, watch));
  }
}

}  // namespace
}  // namespace octavo::runtime

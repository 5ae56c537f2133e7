// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kept_values.h"

#include <gtest/gtest.h>

#include "core/float_exec/run.h"
#include "core/ops/op_table.h"

namespace octavo::float_exec {
namespace {

using ir::DType;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

Tensor Ramp(const ir::Shape& shape) {
  Tensor tensor(DType::kF32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.mutable_values<float>()[i] = 0.01f * static_cast<float>(i % 31 - 15);
  }
  return tensor;
}

// Four products whose sums have 160, 300, 100 and 200 terms.  Only the first three have constant
// weights.
class Products : public testing::Test {
 protected:
  Products() {
    const ValueId x = graph_.AddInput("x", Real({2, 160}));
    const ValueId a = Multiply(x, graph_.AddConstant("v", Ramp({160, 300})), "a", 300);
    const ValueId b = Multiply(a, graph_.AddConstant("w", Ramp({300, 100})), "b", 100);
    const ValueId c = Multiply(b, graph_.AddConstant("u", Ramp({100, 200})), "c", 200);
    const ValueId m = graph_.AddInput("m", Real({200, 5}));
    graph_.AddOutput(Multiply(c, m, "y", 5));
  }

  static Type Real(ir::Shape shape) { return {DType::kF32, std::move(shape), {}, {}}; }
  ValueId Multiply(ValueId a, ValueId b, const std::string& name, int64_t columns) {
    const ir::NodeId id = graph_.AddNode({.op = ops::FindOp("MatMul", ""),
                                          .inputs = {a, b},
                                          .results = {{name, Real({2, columns})}}});
    return graph_.node(id).result();
  }
  std::vector<std::string> Names(const std::vector<ValueId>& values) {
    std::vector<std::string> names;
    for (const ValueId value : values) names.push_back(graph_.name(value));
    return names;
  }

  ir::Graph graph_;
};

using Strings = std::vector<std::string>;

TEST_F(Products, TheLongestSumsOfConstantWeightsAreWorthKeeping) {
  EXPECT_EQ(Names(CostlyValues(graph_, 1, 1 << 20)), (Strings{"b", "a"}));
}

TEST_F(Products, ValuesOfAllSamplesFitIntoTheBytes) {
  const int64_t b = 2 * 100 * 4, a = 2 * 300 * 4;
  EXPECT_EQ(Names(CostlyValues(graph_, 3, 3 * (a + b))), (Strings{"b", "a"}));
  EXPECT_EQ(Names(CostlyValues(graph_, 3, 3 * (a + b) - 1)), Strings{"b"});
  EXPECT_EQ(Names(CostlyValues(graph_, 3, 3 * b - 1)), Strings{});
}

TEST_F(Products, ARunThatIsGivenThemComputesTheRestAlike) {
  ThreadPool pool(2);
  const std::vector<Tensor> inputs = {Ramp({2, 160}), Ramp({200, 5})};
  KeptValues kept{.values = CostlyValues(graph_, 1, 1 << 20)};
  kept.AddSample();
  auto whole = Session::Create(graph_);
  ASSERT_TRUE(whole);
  const auto expected = whole->Run(
      inputs, pool, {}, [&](ValueId id, const Tensor& tensor) { kept.Keep(id, tensor); });
  ASSERT_TRUE(expected);

  auto part = Session::Create(graph_, kept.values);
  ASSERT_TRUE(part);
  ASSERT_TRUE(part->Start(inputs, kept.OfSample(0)));
  Strings order;
  Tensor y;
  while (!part->done()) {
    ASSERT_TRUE(part->Advance(pool, {}, [&](ValueId id, const Tensor& tensor) {
      order.push_back(graph_.name(id));
      y = tensor;
    }));
  }
  EXPECT_EQ(order, (Strings{"a", "b", "c", "y"}));
  EXPECT_EQ(y, expected->at(0));
}

}  // namespace
}  // namespace octavo::float_exec

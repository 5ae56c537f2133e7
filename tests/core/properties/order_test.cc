// SPDX-License-Identifier: Apache-2.0
// Comparisons of elements produce indices and bools, whose errors have no bound in LSB.  On random
// chains of Rescales, data movement and Dequantize before an order-dependent op, no pass below the
// limit new-parameters may change one of them.  OCTAVO_SEED=N runs only that seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/text/print.h"
#include "tests/core/properties/dice.h"
#include "tests/core/properties/run_values.h"
#include "tests/support/random_inputs.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

using ir::DType;
using ir::Graph;
using ir::Type;
using ir::ValueId;
using passes::Effect;

constexpr uint64_t kChains = kSanitized ? 200 : 4000;
const ir::Shape kShape = {4, 48};

// Makes a value, a chain of ops on it, and an order-dependent op on the end of the chain.
class ChainMaker {
 public:
  explicit ChainMaker(uint64_t seed) : dice_(seed) {}

  Graph Make() {
    ValueId x = Start();
    for (int64_t steps = dice_.Between(1, 4); steps > 0; --steps) x = Step(x);
    if (dice_.Chance(70)) {
      x = Own("Dequantize", x, graph_.type(x).Expressed());
      if (dice_.Chance(40)) x = Move(x);
    }
    if (dice_.Chance(20)) graph_.AddOutput(x);
    ReadOrder(x);
    return std::move(graph_);
  }

 private:
  Type NewType() {
    static const std::vector<DType> kTypes = {DType::kU8, DType::kU8, DType::kI8, DType::kI16};
    const DType dtype = dice_.Pick(kTypes);
    const ir::IntegerRange limits = ir::IntegerRangeOf(dtype);
    static const std::vector<double> kSteps = {0.25, 0.5, 1, 2};
    const double step = dice_.Chance(50) ? dice_.Pick(kSteps) : dice_.Real(0.2, 2);
    const int64_t middle = (limits.min + limits.max + 1) / 2;
    const int64_t zero = dice_.Chance(60) ? middle : dice_.Between(limits.min, limits.max);
    return {dtype,
            kShape,
            ir::Quant::PerTensor(static_cast<float>(step / 16), static_cast<int32_t>(zero)),
            {}};
  }

  ValueId Add(const ir::OpDef* op, std::vector<ValueId> inputs, const Type& type,
              ir::AttrMap attributes = {}) {
    const ir::NodeId id = graph_.AddNode({.op = op,
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = {{graph_.UniqueName("v"), type}}});
    return graph_.node(id).result();
  }
  ValueId Own(std::string_view op, ValueId x, const Type& type) {
    return Add(ops::FindOp(op, "octavo"), {x}, type);
  }

  ValueId Start() {
    if (dice_.Chance(25)) {
      const ValueId x = graph_.AddInput("x", {DType::kF32, kShape, {}, {}});
      return Own("Quantize", x, NewType());
    }
    const ValueId x = graph_.AddInput("x", NewType());
    if (dice_.Chance(60)) return x;
    return Add(ops::FindOp("Add"), {x, graph_.AddInput("x2", NewType())}, NewType());
  }

  ValueId Move(ValueId x) {
    Type type = graph_.type(x);
    if (dice_.Chance(50)) {
      std::swap(type.shape[0], type.shape[1]);
      return Add(ops::FindOp("Transpose"), {x}, type, {{"perm", std::vector<int64_t>{1, 0}}});
    }
    return Add(ops::FindOp("Identity"), {x}, type);
  }

  ValueId Step(ValueId x) {
    const int64_t kind = dice_.Below(10);
    if (kind < 2) return Move(x);
    Type type = NewType();
    type.shape = graph_.type(x).shape;
    if (kind < 3) return Add(ops::FindOp("Relu"), {x}, dice_.Chance(50) ? graph_.type(x) : type);
    return Own("Rescale", x, type);
  }

  void AddOrderNode(std::string_view op, std::vector<ValueId> inputs, size_t results,
                    ir::AttrMap attributes = {}) {
    const auto types =
        ir::InferNode(graph_, *ops::FindOp(op), "order", inputs, attributes, results);
    ASSERT_TRUE(types) << types.error().message;
    std::vector<std::pair<std::string, Type>> values;
    for (const Type& type : *types) values.emplace_back(fmt::format("y{}", values.size()), type);
    if (graph_.type(inputs[0]).quantized() && results == 2) {
      values[0].second.dtype = graph_.type(inputs[0]).dtype;
      values[0].second.quant = graph_.type(inputs[0]).quant;
    }
    const ir::NodeId id = graph_.AddNode({.op = ops::FindOp(op),
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = std::move(values)});
    graph_.AddOutput(graph_.node(id).results.back());
  }

  void ReadOrder(ValueId x) {
    if (dice_.Chance(30)) {
      AddOrderNode(dice_.Chance(50) ? "ArgMax" : "ArgMin", {x}, 1, {{"axis", int64_t{1}}});
    } else if (dice_.Chance(25)) {
      AddOrderNode("TopK", {x, graph_.AddConstant("k", ir::Tensor::Ints({3}))}, 2);
    } else {
      if (graph_.type(x).quantized()) x = Own("Dequantize", x, graph_.type(x).Expressed());
      static const std::vector<std::string_view> kOps = {"Equal", "Less", "Greater", "LessOrEqual",
                                                         "GreaterOrEqual"};
      AddOrderNode(dice_.Pick(kOps), {x, Other(x)}, 1);
    }
  }

  // The second operand of a comparison.
  ValueId Other(ValueId x) {
    if (dice_.Chance(10)) return x;
    if (dice_.Chance(60)) {
      const auto at = static_cast<float>(dice_.Between(-40, 40)) / 16.0f;
      return graph_.AddConstant("c", ir::Tensor::Scalar<float>(at));
    }
    Type type = NewType();
    type.shape = graph_.type(x).shape;
    const ValueId z = Own("Dequantize", graph_.AddInput("z", type), type.Expressed());
    return dice_.Chance(50) ? z : Add(ops::FindOp("Identity"), {z}, type.Expressed());
  }

  Dice dice_;
  Graph graph_;
};

// Succeeds if the indices and bools are equal after the passes.
testing::AssertionResult OrderStays(uint64_t seed, int64_t& rewritten) {
  const Graph before = ChainMaker(seed).Make();
  if (const Status status = ir::Verify(before); !status) {
    return testing::AssertionFailure() << seed << status.error().message << text::Print(before);
  }
  Dice dice(seed ^ 0x0dde7);
  ThreadPool pool(1);
  passes::Settings settings;
  settings.target = *target::BuiltIn("cpu-int8");
  settings.pool = &pool;
  static const std::vector<Effect> kLimits = {Effect::kExact, Effect::kFewerRoundings,
                                              Effect::kFewerClamps};
  settings.limit = dice.Pick(kLimits);
  settings.options.leave_integers = dice.Chance(20);
  Graph after = before;
  passes::Findings findings;
  const auto pipeline = passes::PassesOf({passes::Phase::kOptimize, passes::Phase::kFinish});
  const auto ran = passes::RunPipeline(pipeline, {}, settings, after, findings);
  if (!ran) return testing::AssertionFailure() << seed << ran.error().message;
  rewritten += findings.ledger.empty() ? 0 : 1;
  for (uint64_t run = 0; run < 2; ++run) {
    const std::vector<ir::Tensor> inputs = RandomInputs(before, seed * 2 + run);
    const auto was = RunValues::Of(before, inputs), is = RunValues::Of(after, inputs);
    if (!was || !is) return testing::AssertionFailure() << seed << " does not run";
    for (size_t i = 0; i < before.outputs().size(); ++i) {
      const ValueId b = before.outputs()[i], a = after.outputs()[i];
      if (ir::IsFloat(before.type(b).dtype) || before.type(b).quantized()) continue;
      const double distance = Distance(was->real_values(b), is->real_values(a));
      if (distance == 0) continue;
      std::string applied;
      for (const auto& entry : findings.ledger) applied += fmt::format(" {}", entry.rule);
      return testing::AssertionFailure()
             << fmt::format("seed {}, limit {}: '{}' differs\n{}becomes\n{}applied:{}", seed,
                            Name(settings.limit), before.name(b), text::Print(before),
                            text::Print(after), applied);
    }
  }
  return testing::AssertionSuccess();
}

TEST(Order, StaysBelowNewParameters) {
  int64_t rewritten = 0;
  if (const char* seed = std::getenv("OCTAVO_SEED")) {
    EXPECT_TRUE(OrderStays(std::strtoull(seed, nullptr, 10), rewritten));
    return;
  }
  int64_t differ = 0;
  for (uint64_t seed = 0; seed < kChains; ++seed) {
    const auto stays = OrderStays(seed, rewritten);
    if (!stays && ++differ == 1) ADD_FAILURE() << stays.message();
  }
  EXPECT_EQ(differ, 0) << "of " << kChains << " chains";
  EXPECT_GT(rewritten, static_cast<int64_t>(kChains) / 10);
}

}  // namespace
}  // namespace octavo::test

// SPDX-License-Identifier: Apache-2.0
// A node gives the same bits with the blocked kernels as with its op's definition.
#include "core/float_exec/computation.h"

#include <gtest/gtest.h>

#include <random>

#include "core/float_exec/run.h"
#include "core/ir/infer.h"
#include "core/ops/op_table.h"

namespace octavo::float_exec {
namespace {

using ir::Shape;
using ir::Tensor;
using Ints = std::vector<int64_t>;

Tensor Random(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Tensor tensor(ir::DType::kF32, shape);
  for (float& x : tensor.mutable_values<float>()) x = normal(random);
  return tensor;
}

struct Case {
  std::string_view op;
  std::vector<Shape> inputs;
  ir::AttrMap attributes = {};
};

const std::vector<Case>& Cases() {
  static const std::string kSame = "SAME_LOWER";
  static const std::vector<Case> kCases = {
      {"Conv",
       {{2, 6, 9, 8}, {8, 3, 3, 2}, {8}},
       {{"group", int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 2, 1}}}},
      {"Conv", {{1, 5, 9, 9}, {5, 1, 3, 3}}, {{"group", int64_t{5}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"Conv", {{1, 4, 8, 7}, {6, 4, 3, 3}}, {{"auto_pad", kSame}, {"strides", Ints{2, 2}}}},
      {"Conv", {{1, 4, 8, 7}, {6, 4, 1, 1}, {6}}},
      {"Conv", {{1, 3, 20}, {4, 3, 5}, {4}}, {{"dilations", Ints{2}}, {"pads", Ints{3, 1}}}},
      {"Conv", {{1, 2, 4, 4, 4}, {3, 2, 2, 2, 2}}},
      {"ConvTranspose",
       {{1, 4, 5, 6}, {4, 3, 3, 3}, {6}},
       {{"group", int64_t{2}},
        {"strides", Ints{2, 3}},
        {"pads", Ints{1, 0, 0, 1}},
        {"output_padding", Ints{1, 0}}}},
      {"ConvTranspose",
       {{1, 4, 5, 6}, {4, 3, 4, 4}},
       {{"auto_pad", kSame}, {"strides", Ints{2, 2}}}},
      {"ConvTranspose",
       {{1, 2, 3, 3}, {2, 2, 3, 3}},
       {{"output_shape", Ints{6, 7}}, {"strides", Ints{2, 2}}}},
      {"Gemm", {{5, 37}, {37, 19}, {19}}},
      {"Gemm", {{37, 5}, {19, 37}, {1, 19}}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}}},
      {"Gemm", {{5, 7}, {7, 9}, {5, 1}}, {{"alpha", 0.5f}, {"beta", 0.25f}}},
      {"MatMul", {{3, 5, 33}, {33, 21}}},
      {"MatMul", {{2, 1, 5, 33}, {3, 33, 21}}},
      {"MatMul", {{33}, {33, 4}}},
      {"MatMul", {{4, 33}, {33}}},
  };
  return kCases;
}

class Made {
 public:
  explicit Made(const Case& test) {
    node_.name = "test";
    node_.op = ops::FindOp(test.op);
    node_.attributes = test.attributes;
    for (const Shape& shape : test.inputs) {
      tensors_.push_back(Random(shape, static_cast<uint32_t>(tensors_.size()) + 1));
      node_.inputs.push_back(
          graph_.AddConstant(fmt::format("x{}", tensors_.size()), tensors_.back()));
    }
    const auto types = ir::InferNode(graph_, *node_.op, "test", node_.inputs, node_.attributes);
    if (!types) throw std::runtime_error(types.error().message);
    type_ = (*types)[0];
    for (const Tensor& tensor : tensors_) inputs_.push_back(&tensor);
  }

  Tensor Run(const Computation& computation, int threads) {
    ThreadPool pool(threads);
    std::vector<Tensor> results = {Tensor(ir::DType::kF32, type_.shape)};
    const Status done =
        computation.run({.node = node_, .inputs = inputs_, .results = results, .pool = &pool});
    EXPECT_TRUE(done);
    return results[0];
  }
  Computation Prepared(bool constant_weights) {
    std::vector<Shape> shapes;
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      shapes.push_back(tensors_[i].shape());
      constants.push_back(constant_weights && i > 0 ? &tensors_[i] : nullptr);
    }
    return *Prepare(node_, shapes, constants);
  }
  Computation Definition() const { return {node_.op->definition, false}; }

 private:
  ir::Graph graph_;
  ir::Node node_;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> inputs_;
  ir::Type type_;
};

TEST(Computation, HasTheBitsOfTheDefinition) {
  for (const Case& test : Cases()) {
    Made made(test);
    const Tensor expected = made.Run(made.Definition(), 1);
    for (const int threads : {1, 2, 3}) {
      for (const bool constant_weights : {false, true}) {
        EXPECT_EQ(made.Run(made.Prepared(constant_weights), threads), expected)
            << test.op << " " << ir::ToString(test.inputs[0]);
      }
    }
  }
}

TEST(Computation, BlockedKernelsAreTaken) {
  EXPECT_TRUE(Made(Cases()[0]).Prepared(true).overwrites);
  EXPECT_TRUE(Made(Cases()[6]).Prepared(true).overwrites);
  EXPECT_TRUE(Made(Cases()[9]).Prepared(false).overwrites);
  EXPECT_TRUE(Made(Cases()[13]).Prepared(false).overwrites);
}

}  // namespace
}  // namespace octavo::float_exec

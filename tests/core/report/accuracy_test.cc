// SPDX-License-Identifier: Apache-2.0
// Which outputs rank classes, and how messages number samples.
#include "core/report/accuracy.h"

#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::report {
namespace {

// A graph of x with the nodes of `body`, whose result is y.
bool Ranks(std::string_view input, std::string_view body) {
  const std::string text =
      fmt::format("graph(%x: tensor<{}xf32>) -> (%y) {{\n  {}\n}}\n", input, body);
  const auto graph =
      text::Parse(text, {.find_op = [](std::string_view name, std::string_view domain) {
                    return ops::FindOp(name, domain);
                  }});
  EXPECT_TRUE(graph) << graph.error().message << '\n' << text;
  return graph && RanksClasses(*graph, graph->outputs()[0]);
}

TEST(RanksClasses, AMatrixDoes) {
  EXPECT_TRUE(Ranks("4x10", "%y = Relu(%x) : tensor<4x10xf32>"));
  EXPECT_FALSE(Ranks("4x1", "%y = Relu(%x) : tensor<4x1xf32>")) << "one class is no choice";
  EXPECT_FALSE(Ranks("10", "%y = Relu(%x) : tensor<10xf32>"));
}

TEST(RanksClasses, AMapDoesNot) {
  EXPECT_FALSE(Ranks("1x85x22x22", "%y = Relu(%x) : tensor<1x85x22x22xf32>"));
  EXPECT_FALSE(Ranks("1x7x5x3", "%y = Softmax(%x) {axis=3} : tensor<1x7x5x3xf32>"));
}

TEST(RanksClasses, ASequenceDoesWhereASoftmaxRanksItsLastAxis) {
  EXPECT_FALSE(Ranks("1x7x5", "%y = Relu(%x) : tensor<1x7x5xf32>"));
  EXPECT_TRUE(Ranks("1x7x5", "%y = Softmax(%x) {axis=2} : tensor<1x7x5xf32>"));
  EXPECT_TRUE(Ranks("1x7x5", "%y = LogSoftmax(%x) {axis=-1} : tensor<1x7x5xf32>"));
  EXPECT_FALSE(Ranks("1x7x5", "%y = Softmax(%x) {axis=1} : tensor<1x7x5xf32>"));
  EXPECT_FALSE(Ranks("1x7x5",
                     "%s = Softmax(%x) {axis=2} : tensor<1x7x5xf32>\n"
                     "  %y = Relu(%s) : tensor<1x7x5xf32>"));
}

TEST(RanksClasses, ASoftmaxIsFoundThroughDataMovement) {
  EXPECT_TRUE(Ranks("7x1x5",
                    "%s = Softmax(%x) {axis=2} : tensor<7x1x5xf32>\n"
                    "  %y = Transpose(%s) {perm=[1, 0, 2]} : tensor<1x7x5xf32>"));
  EXPECT_TRUE(Ranks("1x5x7",
                    "%s = Softmax(%x) {axis=1} : tensor<1x5x7xf32>\n"
                    "  %y = Transpose(%s) {perm=[0, 2, 1]} : tensor<1x7x5xf32>"));
  EXPECT_FALSE(Ranks("1x5x7",
                     "%s = Softmax(%x) {axis=2} : tensor<1x5x7xf32>\n"
                     "  %y = Transpose(%s) {perm=[0, 2, 1]} : tensor<1x7x5xf32>"));
}

TEST(AccuracyCounter, NamesASampleByItsNumber) {
  const std::vector<int64_t> labels = {0, 9}, numbers = {3, 7};
  const ir::Tensor scores(ir::DType::kF32, {2, 4});
  const auto message = [&](const std::vector<int64_t>* of) {
    AccuracyCounter counter(labels, of);
    const auto added = counter.Add(scores, scores);
    return added ? std::string() : added.error().message;
  };
  EXPECT_EQ(message(&numbers), "labels: that of sample 7 is 9, but there are 4 classes");
  EXPECT_EQ(message(nullptr), "labels: that of sample 1 is 9, but there are 4 classes");
}

}  // namespace
}  // namespace octavo::report

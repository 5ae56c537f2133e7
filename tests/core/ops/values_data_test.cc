// SPDX-License-Identifier: Apache-2.0
// Ops that compare, convert, search and resize: values by hand and from ONNX's specification.
#include <gtest/gtest.h>

#include <limits>

#include "tests/core/ops/data_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor FloatsOf(const Floats& values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

struct Expected {
  DataCase run;
  Floats values;
};

void Check(const std::vector<Expected>& cases) {
  for (const Expected& test : cases) {
    const auto results = RunCase(test.run);
    ASSERT_TRUE(results) << test.run.op << ": " << results.error().message;
    Floats values;
    for (int64_t i = 0; i < (*results)[0].size(); ++i) {
      values.push_back(static_cast<float>((*results)[0].FloatAt(i)));
    }
    EXPECT_EQ(values, test.values) << test.run.op;
  }
}

TEST(DataValues, ComparisonsBroadcast) {
  const Tensor a = FloatsOf({1, 2, 3}), two = Tensor::Scalar<float>(2);
  Check({{{"Equal", {a, two}}, {0, 1, 0}},
         {{"Less", {a, two}}, {1, 0, 0}},
         {{"LessOrEqual", {a, two}}, {1, 1, 0}},
         {{"Greater", {a, two}}, {0, 0, 1}},
         {{"GreaterOrEqual", {two, a}}, {1, 1, 0}}});
}

TEST(DataValues, Logic) {
  const Tensor a = Tensor::Of<bool>({4}, {false, false, true, true});
  const Tensor b = Tensor::Of<bool>({4}, {false, true, false, true});
  Check({{{"And", {a, b}}, {0, 0, 0, 1}},
         {{"Or", {a, b}}, {0, 1, 1, 1}},
         {{"Xor", {a, b}}, {0, 1, 1, 0}},
         {{"Not", {a}}, {1, 1, 0, 0}}});
}

TEST(DataValues, CastTruncatesAndSaturates) {
  const Tensor x = FloatsOf({-1.9f, 1.9f, 300, -300, kNan, 1e30f});
  Check({{{"Cast", {x}, {{"to", int64_t{3}}}}, {-1, 1, 127, -128, 0, 127}},
         {{"Cast", {x}, {{"to", int64_t{2}}}}, {0, 1, 255, 0, 0, 255}},
         {{"Cast", {x}, {{"to", int64_t{9}}}}, {1, 1, 1, 1, 1, 1}},
         {{"Cast", {Tensor::Ints({257, -1})}, {{"to", int64_t{2}}}}, {1, 255}}});
}

TEST(DataValues, ExtremesTakeTheFirstUnlessAskedForTheLast) {
  const Tensor x = Tensor::Of<float>({2, 3}, {1, 3, 3, 5, 5, 2});
  Check({{{"ArgMax", {x}, {{"axis", int64_t{1}}}}, {1, 0}},
         {{"ArgMax", {x}, {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}}, {2, 1}},
         {{"ArgMin", {x}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}}, {0, 0, 1}},
         {{"ArgMax", {FloatsOf({1, kNan, 7, kNan})}}, {1}}});
}

TEST(DataValues, TopKOrdersEqualElementsByIndex) {
  const Tensor x = Tensor::Of<float>({2, 4}, {1, 4, 4, 2, 9, 9, 9, 0});
  const auto results = RunCase({"TopK", {x, Tensor::Ints({2})}, {}, 2});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0], Tensor::Of<float>({2, 2}, {4, 4, 9, 9}));
  EXPECT_EQ((*results)[1], Tensor::Of<int64_t>({2, 2}, {1, 2, 0, 1}));
}

TEST(DataValues, ShapesAndGeneratedTensors) {
  const Tensor x(ir::DType::kF32, {2, 3, 4});
  Check({{{"Shape", {x}, {{"start", int64_t{-2}}}}, {3, 4}},
         {{"Size", {x}}, {24}},
         {{"ConstantOfShape", {Tensor::Ints({2})}, {{"value", ir::MakePayload(FloatsOf({5}))}}},
          {5, 5}},
         {{"Range",
           {Tensor::Scalar<int64_t>(5), Tensor::Scalar<int64_t>(0), Tensor::Scalar<int64_t>(-2)}},
          {5, 3, 1}},
         {{"OneHot", {Tensor::Ints({1, -1, 7}), Tensor::Scalar<int64_t>(2), FloatsOf({0, 9})}},
          {0, 9, 0, 9, 0, 0}},
         {{"EyeLike", {Tensor(ir::DType::kF32, {2, 3})}, {{"k", int64_t{1}}}}, {0, 1, 0, 0, 0, 1}},
         {{"CumSum",
           {FloatsOf({1, 2, 3}), Tensor::Scalar<int64_t>(0)},
           {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}},
          {5, 3, 0}}});
}

DataCase Resized(const Tensor& x, const Floats& scales, ir::AttrMap attributes) {
  return {"Resize", {x, {}, FloatsOf(scales)}, std::move(attributes)};
}

TEST(DataValues, ResizeModes) {
  const Tensor x = FloatsOf({1, 2, 3, 4});
  const auto word = [](const char* text) { return std::string(text); };
  Check({
      {Resized(x, {0.5f}, {{"mode", word("linear")}}), {1.5f, 3.5f}},
      {Resized(x, {2}, {{"mode", word("linear")}}),
       {1, 1.25f, 1.75f, 2.25f, 2.75f, 3.25f, 3.75f, 4}},
      {Resized(
           x, {0.5f},
           {{"mode", word("linear")}, {"coordinate_transformation_mode", word("align_corners")}}),
       {1, 4}},
      {Resized(x, {2},
               {{"coordinate_transformation_mode", word("asymmetric")},
                {"nearest_mode", word("floor")}}),
       {1, 1, 2, 2, 3, 3, 4, 4}},
      {Resized(x, {2}, {}), {1, 1, 2, 2, 3, 3, 4, 4}},
      {Resized(x, {0.6f}, {}), {1, 3}},
      {Resized(x, {0.25f}, {{"coordinate_transformation_mode", word("pytorch_half_pixel")}}), {1}},
      {{"Resize", {x, {}, {}, Tensor::Ints({3})}, {{"nearest_mode", word("ceil")}}}, {2, 3, 4}},
      {{"Resize",
        {x, FloatsOf({0.5f, 1.5f}), {}, Tensor::Ints({3})},
        {{"coordinate_transformation_mode", word("tf_crop_and_resize")},
         {"extrapolation_value", 9.0f},
         {"mode", word("linear")}}},
       {2.5f, 4, 9}},
  });
}

TEST(DataValues, AntialiasingWidensTheFilterOfASmallerResult) {
  const auto word = [](const char* text) { return std::string(text); };
  const ir::AttrMap linear = {{"mode", word("linear")}, {"antialias", int64_t{1}}};
  // At scale 1/2 the triangle filter has 4 taps: 1/8, 3/8, 3/8, 1/8.
  Check({{Resized(FloatsOf({8, 0, 0, 8}), {0.5f}, linear), {4, 4}},
         {Resized(FloatsOf({0, 0, 8, 0, 0, 0}), {0.5f}, linear), {1, 3, 0}},
         {Resized(FloatsOf({1, 2}), {2}, linear), {1, 1.25f, 1.75f, 2}}});
}

TEST(DataValues, CubicResizeReproducesALineInside) {
  const auto results = RunCase(Resized(FloatsOf({0, 1, 2, 3, 4, 5, 6, 7}), {2},
                                       {{"mode", std::string("cubic")}, {"cubic_coeff_a", -0.5f}}));
  ASSERT_TRUE(results);
  for (int64_t i = 4; i < 12; ++i) {
    EXPECT_FLOAT_EQ((*results)[0].FloatAt(i), (static_cast<float>(i) + 0.5f) / 2 - 0.5f);
  }
}

TEST(DataValues, OnlyNearestResizeIsASameScaleOp) {
  ir::Node node;
  const ir::Graph graph;
  EXPECT_EQ(DataOp("Resize").QuantOf(graph, node).kind, ir::QuantRule::Kind::kSameScale);
  node.attributes.Set("mode", std::string("linear"));
  EXPECT_EQ(DataOp("Resize").QuantOf(graph, node).kind, ir::QuantRule::Kind::kFree);
  EXPECT_FALSE(DataOp("Resize").rescale.why_not(graph, node, {}, {}).empty());
}

TEST(DataValues, PadKeepsARescaleWhoseTypesCannotBothRepresentItsConstant) {
  ir::Graph graph;
  const ir::ValueId x =
      graph.AddInput("x", {ir::DType::kI8, {2}, ir::Quant::PerTensor(0.5f, 0), {}});
  const ir::ValueId pads = graph.AddConstant("pads", Tensor::Ints({1, 1}));
  const ir::ValueId value = graph.AddConstant("value", Tensor::Scalar<float>(1.5f));
  const ir::NodeId id =
      graph.AddNode({.op = &DataOp("Pad"),
                     .inputs = {x, pads, value},
                     .results = {{"y", {ir::DType::kI8, {4}, ir::Quant::PerTensor(0.5f, 0), {}}}}});
  const auto why_not = [&](float from, float to) {
    const auto type = [](float scale) {
      return ir::Type{ir::DType::kI8, {2}, ir::Quant::PerTensor(scale, 3), {}};
    };
    return DataOp("Pad").rescale.why_not(graph, graph.node(id), type(from), type(to));
  };
  EXPECT_EQ(why_not(0.5f, 0.25f), "");
  EXPECT_NE(why_not(0.5f, 0.4f), "");
}

TEST(DataValues, IntegerProductsOfModelsQuantizedElsewhere) {
  const Tensor x = Tensor::Of<uint8_t>({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor w = Tensor::Of<uint8_t>({1, 1, 2, 2}, {1, 1, 1, 1});
  Check(
      {{{"ConvInteger", {x, w, Tensor::Scalar<uint8_t>(1)}, {{"pads", Ints{1, 1, 1, 1}}}},
        {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}},
       {{"MatMulInteger",
         {Tensor::Of<uint8_t>({1, 3}, {11, 7, 3}), Tensor::Of<uint8_t>({3, 2}, {1, 4, 2, 5, 3, 6}),
          Tensor::Scalar<uint8_t>(12), Tensor::Scalar<uint8_t>(0)}},
        {-38, -83}}});
}

TEST(DataValues, DynamicQuantizeLinearUsesItsOwnRange) {
  const auto results =
      RunCase({"DynamicQuantizeLinear", {FloatsOf({0, 2, -3, -2.5f, 1.34f, 0.5f})}, {}, 3});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].ToInts(), Ints({153, 255, 0, 26, 221, 179}));
  EXPECT_FLOAT_EQ((*results)[1].FloatAt(0), 0.0196078438f);
  EXPECT_EQ((*results)[2].IntAt(0), 153);
}

}  // namespace
}  // namespace octavo::ops

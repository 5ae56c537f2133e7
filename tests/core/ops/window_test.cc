// SPDX-License-Identifier: Apache-2.0
// Ops with sliding windows and odd strides, paddings, dilations and groups: values by hand and from
// ONNX's examples.
#include <limits>

#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;

TEST(Conv, StridesPadsDilationsAndGroups) {
  const Tensor x = Counting({1, 1, 3, 3});
  const Tensor ones = Filled({1, 1, 3, 3}, 1), small = Filled({1, 1, 2, 2}, 1);
  const Ints all_one = {1, 1, 1, 1};
  Check({
      {{"Conv", {x, small}}, {1, 1, 2, 2}, {12, 16, 24, 28}},
      {{"Conv", {x, ones}, {{"pads", all_one}}},
       {1, 1, 3, 3},
       {12, 21, 16, 27, 45, 33, 24, 39, 28}},
      {{"Conv", {x, ones}, {{"pads", all_one}, {"strides", Ints{2, 2}}}},
       {1, 1, 2, 2},
       {12, 16, 24, 28}},
      {{"Conv", {x, small}, {{"dilations", Ints{2, 2}}}}, {1, 1, 1, 1}, {20}},
      {{"Conv",
        {Counting({1, 2, 1, 2}), Tensor::Of<float>({2, 1, 1, 1}, {10, 100}), Row({1, 2})},
        {{"group", int64_t{2}}}},
       {1, 2, 1, 2},
       {11, 21, 302, 402}},
      // Two samples with two groups of two channels; one output per group.
      {{"Conv",
        {Counting({2, 4, 1}), Tensor::Of<float>({2, 2, 1}, {1, 10, 100, 1000})},
        {{"group", int64_t{2}}}},
       {2, 2, 1},
       {21, 4300, 65, 8700}},
  });
}

TEST(Conv, AnyNumberOfSpatialAxes) {
  Check({
      {{"Conv", {Counting({1, 1, 4}), Tensor::Of<float>({1, 1, 2}, {1, 10})}},
       {1, 1, 3},
       {21, 32, 43}},
      {{"Conv",
        {Counting({1, 1, 4}), Tensor::Of<float>({1, 1, 2}, {1, 10})},
        {{"pads", Ints{2, 0}}}},
       {1, 1, 5},
       {0, 10, 21, 32, 43}},
      {{"Conv", {Counting({1, 1, 2, 2, 2}), Filled({1, 1, 2, 2, 2}, 1)}}, {1, 1, 1, 1, 1}, {36}},
  });
}

TEST(Conv, SamePaddingGivesTheOddElementToTheNamedEnd) {
  const Tensor x = Counting({1, 1, 4}), ones = Filled({1, 1, 3}, 1);
  const auto padded = [&](std::string how) {
    return DataCase{"Conv", {x, ones}, {{"auto_pad", std::move(how)}, {"strides", Ints{2}}}};
  };
  Check({{padded("SAME_UPPER"), {1, 1, 2}, {6, 7}},
         {padded("SAME_LOWER"), {1, 1, 2}, {3, 9}},
         {padded("VALID"), {1, 1, 1}, {6}}});
}

// -1 + (1 + 2^-12)^2 keeps its last bit only if product and sum are rounded together.
TEST(Conv, AccumulatesWithFusedMultiplyAdds) {
  const float near_one = 1 + 0x1p-12f;
  const double exact = 0x1p-11 + 0x1p-24;
  const Floats x = {1, near_one}, w = {-1, near_one};
  Check({
      {{"Conv", {Tensor::Of<float>({1, 2, 1}, x), Tensor::Of<float>({1, 2, 1}, w)}},
       {1, 1, 1},
       {exact}},
      {{"ConvTranspose", {Tensor::Of<float>({1, 2, 1}, x), Tensor::Of<float>({2, 1, 1}, w)}},
       {1, 1, 1},
       {exact}},
      {{"Gemm", {Tensor::Of<float>({1, 2}, x), Tensor::Of<float>({2, 1}, w)}}, {1, 1}, {exact}},
      {{"MatMul", {Row(x), Row(w)}}, {}, {exact}},
  });
}

TEST(Conv, ErrorsSayWhatDoesNotFit) {
  EXPECT_EQ(Refusal({"Conv", {Counting({1, 4, 3, 3}), Counting({2, 3, 1, 1})}}),
            "Conv 'test': weight has 3 input channels per group but the data has 4");
  EXPECT_EQ(
      Refusal({"Conv", {Counting({1, 3, 3, 3}), Counting({2, 3, 1, 1})}, {{"group", int64_t{2}}}}),
      "Conv 'test': group 2 must divide 3 input and 2 output channels");
  EXPECT_EQ(Refusal({"Conv", {Counting({1, 1, 3}), Counting({2, 1, 1}), Row({1})}}),
            "Conv 'test': bias has shape 1, but must have 2 elements");
  EXPECT_EQ(
      Refusal({"Conv", {Counting({1, 1, 3}), Counting({1, 1, 4})}}),
      "Conv 'test': kernel_shape covers 4 elements along spatial axis 0, but the padded input "
      "has 3");
  EXPECT_EQ(Refusal({"Conv", {Counting({1, 1, 3}), Counting({1, 1, 2})}, {{"strides", Ints{0}}}}),
            "Conv 'test': strides holds 0, but must be from 1 to 2147483647");
}

TEST(ConvTranspose, SpreadsTheInputByTheStrides) {
  const Tensor x = Counting({1, 1, 3}), w = Tensor::Of<float>({1, 1, 2}, {1, 10});
  const auto run = [&](ir::AttrMap attributes) {
    attributes.Set("strides", Ints{2});
    return DataCase{"ConvTranspose", {x, w}, std::move(attributes)};
  };
  Check({
      {run({}), {1, 1, 6}, {1, 10, 2, 20, 3, 30}},
      {run({{"output_padding", Ints{1}}}), {1, 1, 7}, {1, 10, 2, 20, 3, 30, 0}},
      {run({{"pads", Ints{1, 1}}}), {1, 1, 4}, {10, 2, 20, 3}},
      {run({{"output_shape", Ints{5}}}), {1, 1, 5}, {10, 2, 20, 3, 30}},
  });
}

TEST(ConvTranspose, SamePaddingDilationsAndGroups) {
  const Tensor x = Counting({1, 1, 2}), w = Tensor::Of<float>({1, 1, 3}, {1, 10, 100});
  const auto padded = [&](std::string how) {
    return DataCase{"ConvTranspose", {x, w}, {{"auto_pad", std::move(how)}, {"strides", Ints{2}}}};
  };
  Check({
      {padded("SAME_UPPER"), {1, 1, 4}, {1, 10, 102, 20}},
      {padded("SAME_LOWER"), {1, 1, 4}, {10, 102, 20, 200}},
      {padded("VALID"), {1, 1, 5}, {1, 10, 102, 20, 200}},
      {{"ConvTranspose", {x, Tensor::Of<float>({1, 1, 2}, {1, 10})}, {{"dilations", Ints{2}}}},
       {1, 1, 4},
       {1, 2, 10, 20}},
      {{"ConvTranspose",
        {Tensor::Of<float>({1, 2, 1}, {3, 5}), Tensor::Of<float>({2, 1, 1}, {2, 7}), Row({1, 1})},
        {{"group", int64_t{2}}}},
       {1, 2, 1},
       {7, 36}},
      {{"ConvTranspose", {Counting({1, 1, 3, 3}, 0), Filled({1, 1, 3, 3}, 1)}},
       {1, 1, 5, 5},
       {0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8}},
  });
  EXPECT_EQ(Refusal({"ConvTranspose", {x, w}, {{"kernel_shape", Ints{2}}}}),
            "ConvTranspose 'test': kernel_shape differs from the weight's shape");
}

TEST(MaxPool, WindowsPadsAndCeilMode) {
  const Tensor x = Counting({1, 1, 4, 4});
  const Ints two = {2, 2}, three = {3, 3};
  Check({
      {{"MaxPool", {x}, {{"kernel_shape", two}, {"strides", two}}}, {1, 1, 2, 2}, {6, 8, 14, 16}},
      {{"MaxPool", {x}, {{"kernel_shape", three}, {"strides", two}, {"ceil_mode", int64_t{1}}}},
       {1, 1, 2, 2},
       {11, 12, 15, 16}},
      {{"MaxPool", {x}, {{"kernel_shape", two}, {"dilations", two}}},
       {1, 1, 2, 2},
       {11, 12, 15, 16}},
      {{"MaxPool",
        {Counting({1, 1, 5, 5})},
        {{"kernel_shape", three}, {"strides", two}, {"auto_pad", std::string("SAME_UPPER")}}},
       {1, 1, 3, 3},
       {7, 9, 10, 17, 19, 20, 22, 24, 25}},
      // MaxPool never selects padding, whatever the sign.
      {{"MaxPool", {Counting({1, 1, 2}, -2)}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}}},
       {1, 1, 3},
       {-2, -1, -1}},
      // A window that would start in the padding at the end is dropped.
      {{"MaxPool",
        {Counting({1, 1, 3})},
        {{"kernel_shape", Ints{2}},
         {"strides", Ints{3}},
         {"pads", Ints{0, 1}},
         {"ceil_mode", int64_t{1}}}},
       {1, 1, 1},
       {2}},
      {{"MaxPool", {Tensor::Of<uint8_t>({1, 1, 3}, {200, 100, 50})}, {{"kernel_shape", Ints{2}}}},
       {1, 1, 2},
       {200, 100}},
  });
  EXPECT_EQ(Refusal({"MaxPool", {x}}), "MaxPool 'test': kernel_shape must be at least 1");
}

TEST(MaxPool, IndicesCountThroughAllPlanesAndTakeTheFirstOfEquals) {
  const Tensor x = Tensor::Of<float>({1, 2, 2, 2}, {1, 3, 3, 0, -5, -5, -5, -5});
  const auto results = RunCase({"MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}}, 2});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0], Tensor::Of<float>({1, 2, 1, 1}, {3, -5}));
  EXPECT_EQ((*results)[1], Tensor::Of<int64_t>({1, 2, 1, 1}, {1, 4}));
}

TEST(AveragePool, CountsThePaddingOnlyWhenAsked) {
  const Tensor x = Counting({1, 1, 4});
  const auto run = [&](int64_t include, ir::AttrMap attributes) {
    attributes.Set("count_include_pad", include);
    return DataCase{"AveragePool", {x}, std::move(attributes)};
  };
  const ir::AttrMap padded = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}};
  const ir::AttrMap ceiled = {
      {"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}};
  Check({
      {run(0, padded), {1, 1, 4}, {1, 1.5, 2.5, 3.5}},
      {run(1, padded), {1, 1, 4}, {0.5, 1.5, 2.5, 3.5}},
      // Elements that ceil_mode adds beyond the padding never count.
      {run(0, ceiled), {1, 1, 2}, {2, 3.5}},
      {run(1, ceiled), {1, 1, 2}, {2, 3.5}},
      {run(0, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}), {1, 1, 2}, {2, 3}},
      {{"AveragePool",
        {Counting({1, 1, 4, 4})},
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}},
       {1, 1, 2, 2},
       {6, 7.5, 12, 13.5}},
  });
}

TEST(GlobalPools, KeepTheSpatialAxesWithExtentOne) {
  const Tensor x = Counting({1, 2, 2, 2});
  Check({
      {{"GlobalAveragePool", {x}}, {1, 2, 1, 1}, {2.5, 6.5}},
      {{"GlobalMaxPool", {x}}, {1, 2, 1, 1}, {4, 8}},
      {{"GlobalMaxPool", {Counting({2, 1, 2}, -4)}}, {2, 1, 1}, {-3, -1}},
  });
  EXPECT_EQ(Refusal({"GlobalMaxPool", {Filled({1, 2, 0}, 0)}}),
            "GlobalMaxPool 'test': operand of shape 1x2x0 has no elements to choose from");
}

TEST(Windows, NanSpreadsAndPaddingAloneIsZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::Of<float>({1, 1, 3}, {1, nan, 2});
  const ir::AttrMap wide = {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}};
  Check({{{"MaxPool", {x}, {{"kernel_shape", Ints{2}}}}, {1, 1, 2}, {nan, nan}},
         {{"GlobalMaxPool", {x}}, {1, 1, 1}, {nan}},
         {{"ReduceMax", {x}, {{"keepdims", int64_t{0}}}}, {}, {nan}},
         {{"AveragePool", {Counting({1, 1, 2})}, wide}, {1, 1, 3}, {0, 1, 1.5}}});
}

}  // namespace
}  // namespace octavo::ops

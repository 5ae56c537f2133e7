// SPDX-License-Identifier: Apache-2.0
// `run`: inputs that determine shapes come from the samples.
#include <gtest/gtest.h>

#include <limits>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

NamedBlob Sample(const std::string& name, const ir::Tensor& tensor) {
  return {name, Blob(data::WriteNpy(tensor))};
}

// y = Reshape(x, shape).
ModelInput Reshaped(std::vector<NamedBlob> samples) {
  onnx::ModelBuilder builder;
  builder.Input("x", {2, 3}).Input("shape", {2}, onnx_wire::Tensor::INT64);
  builder.Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  return {.model = {"m.onnx", builder.Build()}, .samples = std::move(samples), .threads = 1};
}

const ir::Tensor kX(ir::DType::kF32, {2, 3});

TEST(RunModel, AnInputThatDecidesAShapeIsTakenFromTheSamples) {
  const auto files = RunModel(
      Reshaped({Sample("0/input_0.npy", kX), Sample("0/input_1.npy", ir::Tensor::Ints({3, 2}))}),
      /*all_values=*/false, {}, {});
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ((*files)[0].name, "y.npy");
  const auto y = data::ReadNpy("y", (*files)[0].bytes);
  ASSERT_TRUE(y) << y.error().message;
  // The leading extent is not the batch, so results are stacked along a new leading axis.
  EXPECT_EQ(y->shape(), (ir::Shape{1, 3, 2}));
}

TEST(RunModel, SamplesThatDifferInSuchAnInputAreUnsupported) {
  ModelInput input =
      Reshaped({Sample("0/input_0.npy", kX), Sample("0/input_1.npy", ir::Tensor::Ints({3, 2})),
                Sample("1/input_0.npy", kX), Sample("1/input_1.npy", ir::Tensor::Ints({6, 1}))});
  const auto left = RunModel(input, /*all_values=*/false, {}, {});
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, Code::kUnimplemented);
  input.strict_ops = true;
  const auto files = RunModel(input, /*all_values=*/false, {}, {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::kUnimplemented);
  EXPECT_EQ(files.error().field, "shape");
}

TEST(RunModel, AModelThatTakesStringsIsUnsupportedWhateverItsSamples) {
  onnx::ModelBuilder builder;
  builder.Input("x", {1}, onnx_wire::Tensor::STRING).Node("Identity", {"x"}, {"y"}).Output("y");
  const auto files = RunModel({.model = {"m.onnx", builder.Build()},
                               .samples = {{"0/input_0.pb", Blob(std::string("no tensor"))}},
                               .threads = 1},
                              /*all_values=*/false, {}, {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::kUnimplemented);
}

// x, and Exp(x), moved and quantized; z has no NaN.
constexpr std::string_view kQuantizes =
    R"(graph(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) -> (%a, %b, %c) {
  %a = Quantize@"qa"(%x) : tensor<1x4xu8, scale=0.5, zp=3>
  %e = Exp(%x) : tensor<1x4xf32>
  %t = Transpose(%e) {perm=[1, 0]} : tensor<4x1xf32>
  %b = Quantize@"qb"(%t) : tensor<4x1xu8, scale=0.5, zp=3>
  %c = Quantize@"qc"(%z) : tensor<1x4xu8, scale=0.5, zp=3>
}
)";

constexpr ir::WarningCode kNanInput = "nan_input";

TEST(RunModel, CountsTheNanElementsThatAQuantizeReads) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto row = [](const std::vector<float>& values) {
    return ir::Tensor::Of<float>({1, 4}, values);
  };
  const ModelInput input = {.model = {"q.graph", Blob(std::string(kQuantizes))},
                            .samples = {Sample("0/input_0.npy", row({nan, 1, nan, 0})),
                                        Sample("0/input_1.npy", row({0, 1, 2, 3})),
                                        Sample("1/input_0.npy", row({2, 1, nan, 0})),
                                        Sample("1/input_1.npy", row({0, 1, 2, 3}))},
                            .threads = 1,
                            .allow_non_finite = true};
  for (const bool all_values : {false, true}) {
    std::vector<ir::Warning> warnings;
    const auto files = RunModel(input, all_values, {}, {}, &warnings);
    ASSERT_TRUE(files) << files.error().message;
    std::erase_if(warnings, [](const auto& warning) { return warning.code != kNanInput; });
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_EQ(warnings[0].node, "qa");
    EXPECT_EQ(warnings[0].message, "Quantize 'qa' read 3 NaN elements of 'x' as its zero point");
    EXPECT_EQ(warnings[1].node, "qb");
    EXPECT_EQ(warnings[1].message, "Quantize 'qb' read 3 NaN elements of 't' as its zero point");
  }
}

}  // namespace
}  // namespace octavo::job

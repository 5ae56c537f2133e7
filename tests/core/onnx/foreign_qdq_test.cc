// SPDX-License-Identifier: Apache-2.0
// Quantized models of other tools: which parts become integer arithmetic, which stay float, and
// which are refused.
#include <gmock/gmock.h>

#include <cmath>

#include "core/onnx/export/export.h"
#include "core/text/print.h"
#include "tests/core/onnx/model_builder.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A model whose tensors have the names that ONNX Runtime's quantizer gives them.
class Quantized : public ModelBuilder {
 public:
  explicit Quantized(int64_t opset = 13) : ModelBuilder(opset) {
    Scale("s", 0.5f).Scale("t", 0.25f).Constant("z", ir::Tensor::Scalar<uint8_t>(3));
    Input("x", {1, 2, 4, 4});
  }
  Quantized& Scale(const std::string& name, float value) {
    Constant(name, ir::Tensor::Scalar(value));
    return *this;
  }
  Quantized& Wrap(const std::string& name, const std::string& scale = "s") {
    Node("QuantizeLinear", {name, scale, "z"}, {name + "_quantized"});
    Node("DequantizeLinear", {name + "_quantized", scale, "z"}, {name + "_dequantized"});
    return *this;
  }
  Quantized& Weight(const std::string& name, const ir::Shape& shape) {
    Constant(name + "_quantized", ir::Tensor(ir::DType::kI8, shape));
    Node("DequantizeLinear", {name + "_quantized", "t"}, {name});
    return *this;
  }
};

// The first value of each application of a rule of fold-qdq.
std::vector<std::string> Values(const test::Folded& folded, std::string_view rule) {
  std::vector<std::string> values;
  for (const passes::LedgerEntry& entry : folded.findings.ledger) {
    if (entry.rule == rule) values.push_back(entry.values.at(0));
  }
  return values;
}

std::string TextOf(const ModelBuilder& builder) {
  const auto imported = test::ImportFolded(builder.Build());
  return imported ? text::Print(imported->graph) : imported.error().message;
}

TEST(ForeignQdq, AConvolutionBetweenPairsBecomesAnIntegerOne) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Constant("b_quantized", ir::Tensor(ir::DType::kI32, {2}));
  model.Scale("bs", 0.5f * 0.25f);
  model.Node("DequantizeLinear", {"b_quantized", "bs"}, {"b"});
  model.Node("Conv", {"x_dequantized", "w", "b"}, {"c"});
  model.Wrap("c").Node("Relu", {"c_dequantized"}, {"y"}).Output("y");
  const auto imported = test::ImportFolded(model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = text::Print(imported->graph);
  EXPECT_THAT(text, HasSubstr("%c = Conv(%x_quantized, %w_quantized, %b_quantized)"));
  // Relu's result is not quantized, so Relu stays float.
  EXPECT_THAT(text, HasSubstr("Relu(%c_dequantized)"));
  EXPECT_THAT(Values(*imported, "fold-qdq/integer-op"), ElementsAre("c"));
}

// x * w, with scales 0.5 and 0.25, plus a float bias of two channels.
Quantized WithBias(const std::string& result_scale, float bias) {
  Quantized model;
  ir::Tensor b(ir::DType::kF32, {2});
  b.mutable_values<float>()[1] = bias;
  model.Scale("coarse", 1).Scale("fine", 0.0625f);
  model.Wrap("x").Weight("w", {2, 2, 1, 1}).Constant("b", b);
  model.Node("Conv", {"x_dequantized", "w", "b"}, {"c"});
  model.Wrap("c", result_scale).Output("c_dequantized");
  return model;
}

// Exports the model of another tool before fold-qdq, as --stop-before fold-qdq does.
TEST(ForeignQdq, AGraphThatWasExportedBeforeItFoldedFoldsAlike) {
  const Quantized model = WithBias("coarse", 1.3f);
  const auto imported = ImportModel(model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const auto exported = ExportModel(imported->graph);
  ASSERT_TRUE(exported) << exported.error().message;
  const auto again = test::ImportFolded(Blob(exported->model));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(Values(*again, "fold-qdq/quantize-bias"), ElementsAre("b"));
  const std::string text = text::Print(again->graph);
  EXPECT_THAT(text, HasSubstr("%b = Quantize(%b.float) : tensor<2xi32, scale=0.125, zp=0>"));
  EXPECT_THAT(text, Not(HasSubstr("metadata")));
}

TEST(ForeignQdq, AFloatBiasIsQuantizedAtTheAccumulatorScale) {
  const auto imported = test::ImportFolded(WithBias("coarse", 1.3f).Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = text::Print(imported->graph);
  EXPECT_THAT(text, HasSubstr("%b = Quantize(%b.float) : tensor<2xi32, scale=0.125, zp=0>"));
  EXPECT_THAT(text, HasSubstr("%c = Conv(%x_quantized, %w_quantized, %b)"));
  EXPECT_THAT(Values(*imported, "fold-qdq/quantize-bias"), ElementsAre("b"));
}

TEST(ForeignQdq, AFloatBiasCoarserThanTheResultKeepsTheConvolutionFloat) {
  EXPECT_THAT(TextOf(WithBias("fine", 1.3f)), HasSubstr("%c = Conv(%x_dequantized, %w, %b)"));
}

TEST(ForeignQdq, AFloatBiasThatDoesNotFitKeepsTheConvolutionFloat) {
  EXPECT_THAT(TextOf(WithBias("coarse", 0x1p28f)), HasSubstr("%c = Conv(%x_dequantized, %w, %b)"));
}

TEST(ForeignQdq, AnAddOfAVectorOfChannelsIsABias) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Constant("b", ir::Tensor(ir::DType::kF32, {2, 1, 1}));
  model.Node("Conv", {"x_dequantized", "w"}, {"p"}).Node("Add", {"b", "p"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Conv(%x_quantized, %w_quantized, %b)"));
}

TEST(ForeignQdq, AnAddOfOneNumberOrOfARowIsNoBias) {
  for (const ir::Shape& shape : {ir::Shape{1}, ir::Shape{4}, ir::Shape{2, 4, 1}}) {
    Quantized model;
    model.Wrap("x").Weight("w", {2, 2, 1, 1}).Constant("b", ir::Tensor(ir::DType::kF32, shape));
    model.Node("Conv", {"x_dequantized", "w"}, {"p"}).Node("Add", {"p", "b"}, {"c"});
    model.Wrap("c").Output("c_dequantized");
    EXPECT_THAT(TextOf(model), HasSubstr("Add(%p, %b)")) << shape.size();
  }
}

TEST(ForeignQdq, AProductThatOthersReadKeepsItsAdd) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Constant("b", ir::Tensor(ir::DType::kF32, {2, 1, 1}));
  model.Node("Conv", {"x_dequantized", "w"}, {"p"}).Node("Add", {"p", "b"}, {"c"});
  model.Wrap("c").Output("c_dequantized").Output("p");
  EXPECT_THAT(TextOf(model), HasSubstr("Add(%p, %b)"));
}

TEST(ForeignQdq, AMatMulOfMatricesAndAnAddAreAGemm) {
  Quantized model;
  model.Input("m", {3, 5});
  model.Wrap("m").Weight("w", {5, 2}).Constant("b", ir::Tensor(ir::DType::kF32, {2}));
  model.Node("MatMul", {"m_dequantized", "w"}, {"p"}).Node("Add", {"p", "b"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Gemm(%m_quantized, %w_quantized, %b)"));
}

TEST(ForeignQdq, AMatMulOfRowsAndAnAddAreAGemmOfTheRows) {
  Quantized model;
  model.Input("m", {2, 3, 5});
  model.Wrap("m").Weight("w", {5, 2}).Constant("b", ir::Tensor(ir::DType::kF32, {2}));
  model.Node("MatMul", {"m_dequantized", "w"}, {"p"}).Node("Add", {"p", "b"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  const std::string text = TextOf(model);
  EXPECT_THAT(text,
              HasSubstr("%m_quantized.rows = Reshape(%m_quantized, %m_quantized.rows.shape)"));
  EXPECT_THAT(text, HasSubstr("= Gemm@\"c\"(%m_quantized.rows, %w_quantized, %b)"));
  EXPECT_THAT(text, HasSubstr("%c = Reshape@\"c_1\"(%c.rows, %c.shape)"));
  EXPECT_THAT(text, Not(HasSubstr("MatMul")));
}

TEST(ForeignQdq, MaxAndMinWithANumberAreIntegerClips) {
  Quantized model;
  model.Scale("zero", 0).Constant("six", ir::Tensor(ir::DType::kF32, {1}));
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Node("Conv", {"x_dequantized", "w"}, {"p"});
  model.Node("Max", {"p", "zero"}, {"low"}).Node("Min", {"six", "low"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%p = Conv(%x_quantized, %w_quantized)"));
  EXPECT_THAT(text, HasSubstr("%low = Clip(%p, %zero)"));
  EXPECT_THAT(text, HasSubstr("%c = Clip(%low, _, %six.bound)"));
}

// A recursion for each Relu would need more stack than a thread has, and quadratic time.
TEST(ForeignQdq, AChainOfManyClampsFolds) {
  constexpr int kClamps = 30'000;
  Quantized model;
  model.Wrap("x").Node("Relu", {"x_dequantized"}, {"r0"});
  for (int i = 1; i < kClamps; ++i) {
    model.Node("Relu", {fmt::format("r{}", i - 1)}, {fmt::format("r{}", i)});
  }
  const std::string last = fmt::format("r{}", kClamps - 1);
  model.Wrap(last).Output(last + "_dequantized");
  const auto imported = test::ImportFolded(model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(Values(*imported, "fold-qdq/integer-op").size() +
                Values(*imported, "fold-qdq/same-scale-op").size(),
            size_t{kClamps});
}

TEST(ForeignQdq, ABiasAtAnotherScaleKeepsTheConvolutionFloat) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Constant("b_quantized", ir::Tensor(ir::DType::kI32, {2}));
  model.Scale("bs", 0.3f);
  model.Node("DequantizeLinear", {"b_quantized", "bs"}, {"b"});
  model.Node("Conv", {"x_dequantized", "w", "b"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Conv(%x_dequantized, %w, %b)"));
}

TEST(ForeignQdq, AResultThatIsReadAsFloatTooStaysFloat) {
  Quantized model;
  model.Wrap("x").Node("Sigmoid", {"x_dequantized"}, {"c"});
  model.Wrap("c").Output("c_dequantized").Output("c");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Sigmoid(%x_dequantized)"));
}

TEST(ForeignQdq, AConcatOfTwoScalesGetsOneRescale) {
  Quantized model;
  model.Wrap("x").Node("Sigmoid", {"x_dequantized"}, {"a"});
  model.Wrap("a", "t").Node("Concat", {"x_dequantized", "a_dequantized"}, {"c"}).Int("axis", 1);
  model.Wrap("c", "t").Output("c_dequantized");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%x_quantized.r = Rescale(%x_quantized)"));
  EXPECT_THAT(text, HasSubstr("%c = Concat(%x_quantized.r, %a)"));
}

TEST(ForeignQdq, AMaxPoolOfAnotherScaleIsThePoolAndARescale) {
  Quantized model;
  model.Wrap("x").Node("MaxPool", {"x_dequantized"}, {"c"}).Ints("kernel_shape", {2, 2});
  model.Wrap("c", "t").Output("c_dequantized");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%c.kept = MaxPool@\"c\"(%x_quantized)"));
  EXPECT_THAT(text, HasSubstr("%c = Rescale@\"c_1\"(%c.kept)"));
}

TEST(ForeignQdq, APairOfThePairsIsARescale) {
  Quantized model;
  model.Wrap("x").Wrap("x_dequantized", "t").Output("x_dequantized_dequantized");
  EXPECT_THAT(TextOf(model), HasSubstr("= Rescale(%x_quantized)"));
  Quantized same;
  same.Wrap("x").Wrap("x_dequantized").Output("x_dequantized_dequantized");
  EXPECT_THAT(TextOf(same), Not(HasSubstr("Rescale")));
}

TEST(ForeignQdq, QuantizedValuesMayBeMovedAsIntegers) {
  Quantized model;
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("Transpose", {"q"}, {"p"}).Ints("perm", {0, 2, 3, 1});
  model.Node("DequantizeLinear", {"p", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("%p = Transpose(%q) {perm=[0, 2, 3, 1]} : "
                                       "tensor<1x4x4x2xu8, scale=0.5, zp=3>"));
}

TEST(ForeignQdq, AnIntegerInputReadWithTwoScalesStaysPlain) {
  Quantized model;
  model.Input("i", {4}, onnx_wire::Tensor::UINT8);
  model.Node("DequantizeLinear", {"i", "s", "z"}, {"a"});
  model.Node("DequantizeLinear", {"i", "t", "z"}, {"b"});
  model.Node("Add", {"a", "b"}, {"y"}).Output("y");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%i: tensor<4xu8>"));
  EXPECT_THAT(text, HasSubstr("%a = Reinterpret@\"i.codes\"(%i) : tensor<4xu8, scale=0.5, zp=3>"));
  EXPECT_THAT(text,
              HasSubstr("%b = Reinterpret@\"i.codes_1\"(%i) : tensor<4xu8, scale=0.25, zp=3>"));
}

TEST(ForeignQdq, QLinearConvIsAConvolution) {
  Quantized model;
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Constant("w", ir::Tensor(ir::DType::kI8, {2, 2, 1, 1}));
  model.Constant("wz", ir::Tensor::Scalar<int8_t>(0));
  model.Constant("b", ir::Tensor(ir::DType::kI32, {2}));
  model.Node("QLinearConv", {"q", "s", "z", "w", "t", "wz", "s", "z", "b"}, {"c"});
  model.Node("DequantizeLinear", {"c", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Conv(%q, %w, %b) : tensor<1x2x4x4xu8, scale=0.5"));
}

TEST(ForeignQdq, AScaleMustBePositiveAndFinite) {
  for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) {
    Quantized model;
    model.Scale("bad", scale).Wrap("x", "bad").Output("x_dequantized");
    const auto imported = test::ImportFolded(model.Build());
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, Code::kInvalidArgument) << scale;
  }
}

TEST(ForeignQdq, AScaleThatIsComputedIsUnimplemented) {
  Quantized model;
  model.Input("computed", {});
  model.Wrap("x", "computed").Output("x_dequantized");
  const auto imported = test::ImportFolded(model.Build());
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, Code::kUnimplemented);
  EXPECT_EQ(imported.error().reason, "DYNAMIC_QUANTIZATION");
}

TEST(ForeignQdq, AClampBeforeQuantizeIsAnIntegerOne) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Node("Conv", {"x_dequantized", "w"}, {"c"});
  model.Node("Relu", {"c"}, {"r"}).Node("Clip", {"r", "", "s"}, {"k"});
  model.Wrap("k").Output("k_dequantized");
  const auto imported = test::ImportFolded(model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = text::Print(imported->graph);
  const std::string type = " : tensor<1x2x4x4xu8, scale=0.5, zp=3>";
  EXPECT_THAT(text, HasSubstr("%c = Conv(%x_quantized, %w_quantized)" + type));
  EXPECT_THAT(text, HasSubstr("%r = Relu(%c)" + type));
  EXPECT_THAT(text, HasSubstr("%k = Clip(%r, _, %s)" + type));
}

TEST(ForeignQdq, AClampThatIsReadAsFloatTooKeepsTheConvolutionFloat) {
  Quantized model;
  model.Wrap("x").Weight("w", {2, 2, 1, 1});
  model.Node("Conv", {"x_dequantized", "w"}, {"c"}).Node("Relu", {"c"}, {"r"});
  model.Wrap("r").Output("r_dequantized").Output("c");
  EXPECT_THAT(TextOf(model), HasSubstr("%c = Conv(%x_dequantized, %w) : tensor<1x2x4x4xf32>"));
}

TEST(ForeignQdq, AWeightIsFoundBehindATransposeAndAReshape) {
  Quantized model;
  model.Constant("scales", ir::Tensor::Of<float>({2}, {0.25f, 0.5f}));
  model.Constant("flat", ir::Tensor(ir::DType::kI8, {2, 2}));
  model.Constant("shape", ir::Tensor::Ints({2, 1, 1, 2}));
  model.Node("DequantizeLinear", {"flat", "scales"}, {"f"}).Int("axis", 0);
  model.Node("Reshape", {"f", "shape"}, {"last"});
  model.Node("Transpose", {"last"}, {"w"}).Ints("perm", {0, 3, 1, 2});
  model.Wrap("x").Node("Conv", {"x_dequantized", "w"}, {"c"});
  model.Wrap("c").Output("c_dequantized");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("tensor<2x2x1x1xi8, axis=0, scale=[0.25, 0.5], zp=0>"));
  EXPECT_THAT(text, HasSubstr("Conv(%x_quantized, "));
}

TEST(ForeignQdq, ParametersMayBeComputedFromConstants) {
  Quantized model;
  model.Constant("wide", ir::Tensor::Scalar<int64_t>(7));
  model.Node("Cast", {"wide"}, {"zero"}).Int("to", onnx_wire::Tensor::UINT8);
  model.Node("QuantizeLinear", {"x", "s", "zero"}, {"q"});
  model.Node("DequantizeLinear", {"q", "s", "zero"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("xu8, scale=0.5, zp=7>"));
}

TEST(ForeignQdq, ACastOfQuantizedValuesToTheirOwnTypeIsAnIdentity) {
  Quantized model;
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("Cast", {"q"}, {"same"}).Int("to", onnx_wire::Tensor::UINT8);
  model.Node("DequantizeLinear", {"same", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model),
              HasSubstr("%same = Identity(%q) : tensor<1x2x4x4xu8, scale=0.5, zp=3>"));
}

TEST(ForeignQdq, ASubnormalScaleIsAWarning) {
  Quantized model;
  model.Scale("tiny", 1e-40f).Wrap("x", "tiny").Output("x_dequantized");
  const auto imported = test::ImportFolded(model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->findings.warnings.size(), 1u);
  EXPECT_EQ(imported->findings.warnings[0].code.name(), "subnormal_scale");
}

}  // namespace
}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's QLinear operators, blocked quantization, and 4-bit integers.
#include <gmock/gmock.h>

#include "core/text/print.h"
#include "tests/core/onnx/model_builder.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kMicrosoft[] = "com.microsoft";

// Quantized float inputs `q` and `r`, and parameters for them.
class QLinear : public ModelBuilder {
 public:
  QLinear() {
    Constant("s", ir::Tensor::Scalar(0.5f)).Constant("t", ir::Tensor::Scalar(0.25f));
    Constant("z", ir::Tensor::Scalar<uint8_t>(3));
    Input("x", {1, 2, 4, 4}).Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
    Input("v", {1, 2, 4, 4}).Node("QuantizeLinear", {"v", "t", "z"}, {"r"});
  }
  // Adds the operator; its quantized result `c` is an output of the model.
  QLinear& Op(const std::string& op, const std::vector<std::string>& inputs) {
    Node(op, inputs, {"c"}, "op").Domain(kMicrosoft).Output("c");
    return *this;
  }
};

std::string TextOf(const ModelBuilder& builder) {
  const auto imported = test::ImportFolded(builder.Build());
  return imported ? text::Print(imported->graph) : imported.error().message;
}

TEST(QLinearFamily, ASumIsAnAddOfTwoTypes) {
  QLinear model;
  model.Op("QLinearAdd", {"q", "s", "z", "r", "t", "z", "s", "z"});
  EXPECT_THAT(TextOf(model),
              HasSubstr("%c = Add@\"op\"(%q, %r) : tensor<1x2x4x4xu8, scale=0.5, zp=3>"));
}

TEST(QLinearFamily, AnAbsentZeroPointIsZero) {
  QLinear model;
  model.Node("QuantizeLinear", {"x", "s"}, {"u"});
  model.Op("QLinearMul", {"u", "s", "", "r", "t", "z", "s"});
  EXPECT_THAT(TextOf(model),
              HasSubstr("%c = Mul@\"op\"(%u, %r) : tensor<1x2x4x4xu8, scale=0.5, zp=0>"));
}

TEST(QLinearFamily, AConcatRescalesWhatDiffers) {
  QLinear model;
  model.Op("QLinearConcat", {"s", "z", "q", "s", "z", "r", "t", "z"}).Int("axis", 1);
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%r.r = Rescale(%r)"));
  EXPECT_THAT(text, HasSubstr("%c = Concat@\"op\"(%q, %r.r) {axis=1}"));
}

TEST(QLinearFamily, EveryUnaryOperatorBecomesThePlainOne) {
  const std::pair<const char*, const char*> rows[] = {
      {"QLinearSigmoid", "Sigmoid"},
      {"QLinearLeakyRelu", "LeakyRelu"},
      {"QLinearGlobalAveragePool", "GlobalAveragePool"},
      {"QLinearReduceMean", "ReduceMean"},
      {"QLinearSoftmax", "Softmax"}};
  for (const auto& [op, plain] : rows) {
    QLinear model;
    model.Op(op, {"q", "s", "z", "t", "z"});
    if (std::string(op) == "QLinearSoftmax") model.Int("opset", 13);
    EXPECT_THAT(TextOf(model), HasSubstr(std::string("%c = ") + plain + "@\"op\"(%q"));
  }
  QLinear pool;
  pool.Op("QLinearAveragePool", {"q", "s", "z", "t", "z"}).Ints("kernel_shape", {2, 2});
  EXPECT_THAT(TextOf(pool), HasSubstr("%c = AveragePool@\"op\"(%q)"));
}

TEST(QLinearFamily, APoolOverTheLastChannelsIsUnsupported) {
  QLinear model;
  model.Op("QLinearGlobalAveragePool", {"q", "s", "z", "t", "z"}).Int("channels_last", 1);
  EXPECT_THAT(TextOf(model), HasSubstr("QLinearGlobalAveragePool 'op': attribute 'channels_last'"));
}

TEST(QLinearFamily, ASoftmaxOverSeveralAxesIsUnsupported) {
  QLinear model;
  model.Op("QLinearSoftmax", {"q", "s", "z", "t", "z"}).Int("axis", 1).Int("opset", 11);
  EXPECT_THAT(TextOf(model), HasSubstr("axis 1 of rank 4 of opset 11"));
}

TEST(QLinearFamily, AMissingScaleIsNamed) {
  QLinear model;
  model.Op("QLinearAdd", {"q", "s", "z", "r", "", "z", "s", "z"});
  EXPECT_THAT(TextOf(model), HasSubstr("QLinearAdd 'op': input 4 must be given"));
}

TEST(QLinearFamily, OneThatIsNoneIsUnsupported) {
  QLinear model;
  model.Op("QLinearNothing", {"q", "s", "z", "t", "z"});
  EXPECT_THAT(TextOf(model), HasSubstr("operator 'QLinearNothing' of domain 'com.microsoft'"));
}

// x . w + b; the weights are quantized per column.
TEST(QLinearFamily, AGemmTakesItsBiasAtTheScaleOfTheProduct) {
  QLinear model;
  model.Input("a", {2, 3}).Node("QuantizeLinear", {"a", "s", "z"}, {"aq"});
  model.Constant("w", ir::Tensor(ir::DType::kI8, {3, 2}));
  model.Constant("ws", ir::Tensor::Of<float>({2}, {0.5f, 0.25f}));
  model.Constant("wz", ir::Tensor(ir::DType::kI8, {2}));
  model.Constant("b", ir::Tensor(ir::DType::kI32, {2}));
  model.Op("QGemm", {"aq", "s", "z", "w", "ws", "wz", "b", "t", "z"});
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%c = Gemm@\"op\"(%aq, %w, %b)"));
  EXPECT_THAT(text, HasSubstr("tensor<2xi32, axis=0, scale=[0.25, 0.125], zp=0>"));
}

TEST(QLinearFamily, TheirOwnQuantizeLinearIsOnnxs) {
  QLinear model;
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}).Domain(kMicrosoft).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("%y = Dequantize(%q)"));
}

// ---------------------------------------------------------------- 4 bits and blocks

// Adds a constant of 4-bit integers, two per byte.
void AddFourBit(ModelBuilder& model, const std::string& name, int type, const std::string& bytes,
                int64_t elements) {
  auto* tensor = model.graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  tensor->add_dims(elements);
  tensor->set_raw_data(bytes);
}

TEST(FourBits, AreWidenedLowerHalfFirst) {
  ModelBuilder model(21);
  model.Constant("s", ir::Tensor::Scalar(1.0f));
  AddFourBit(model, "w", onnx_wire::Tensor::INT4, "\x81\x7f\x03", 5);
  AddFourBit(model, "z", onnx_wire::Tensor::INT4, std::string("\0", 1), 1);
  model.Node("DequantizeLinear", {"w", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model),
              HasSubstr("const %w = [1, -8, -1, 7, 3] : tensor<5xi8, scale=1, zp=0>"));
}

TEST(FourBits, WithoutASignAreBytes) {
  ModelBuilder model(21);
  model.Constant("s", ir::Tensor::Scalar(1.0f));
  AddFourBit(model, "w", onnx_wire::Tensor::UINT4, "\x81\x7f\x03", 5);
  AddFourBit(model, "z", onnx_wire::Tensor::UINT4, "\x08", 1);
  model.Node("DequantizeLinear", {"w", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("[1, 8, 15, 7, 3]"));
}

TEST(FourBits, OfTooFewBytesAreRefused) {
  ModelBuilder model(21);
  AddFourBit(model, "w", onnx_wire::Tensor::INT4, "\x81\x7f", 5);
  model.Node("Identity", {"w"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("tensor 'w': 2 bytes of data"));
}

TEST(FourBits, OfActivationsAreUnsupported) {
  ModelBuilder model(21);
  model.Input("x", {4}).Constant("s", ir::Tensor::Scalar(1.0f));
  AddFourBit(model, "z", onnx_wire::Tensor::INT4, std::string("\0", 1), 1);
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}, "quant");
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}).Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("QuantizeLinear 'quant': 4-bit integers are supported in"));
}

// 2 x 5 integers in blocks of 2 along axis 1: three scales per row; the last applies to one
// element.
ModelBuilder Blocked(const ir::Shape& scales, int64_t block_size) {
  ModelBuilder model(21);
  model.Constant("w", ir::Tensor::Of<int8_t>({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  std::vector<float> values;
  for (int64_t i = 0; i < ir::NumElements(scales); ++i) values.push_back(static_cast<float>(i + 1));
  model.Constant("s", ir::Tensor::Of<float>(scales, values));
  model.Node("DequantizeLinear", {"w", "s"}, {"y"}, "blocks").Int("axis", 1);
  model.Int("block_size", block_size).Output("y");
  return model;
}

TEST(Blocks, AConstantKeepsThem) {
  const auto imported = test::ImportFolded(Blocked({2, 3}, 2).Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = text::Print(imported->graph);
  EXPECT_THAT(text, HasSubstr("const %w = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : tensor<2x5xi8, axis=1, "
                              "block=2, scale=[1, 2, 3, 4, 5, 6], zp=0>"));
  EXPECT_THAT(text, HasSubstr("%y = Dequantize@\"blocks\"(%w) : tensor<2x5xf32>"));
  EXPECT_THAT(imported->warnings, testing::IsEmpty());
}

// Symmetric 4-bit weights have negative scales, and blocks of zeros have the scale 0.
TEST(Blocks, OfFourBitsKeepThem) {
  ModelBuilder model(21);
  AddFourBit(model, "w", onnx_wire::Tensor::UINT4, "\x81\x7f\x03", 5);
  AddFourBit(model, "z", onnx_wire::Tensor::UINT4, "\x87\x09", 3);
  model.Constant("s", ir::Tensor::Of<float>({3}, {0.5f, -2, 0}));
  model.Node("DequantizeLinear", {"w", "s", "z"}, {"y"}).Int("axis", 0).Int("block_size", 2);
  model.Output("y");
  EXPECT_THAT(TextOf(model), HasSubstr("const %w = [1, 8, 15, 7, 3] : tensor<5xu4, axis=0, "
                                       "block=2, scale=[0.5, -2, 0], zp=[7, 8, 9]>"));
}

TEST(Blocks, OfAConstantThatIsDequantizedTwiceAreOneValue) {
  ModelBuilder model = Blocked({2, 3}, 2);
  model.Node("DequantizeLinear", {"w", "s"}, {"again"}).Int("axis", 1).Int("block_size", 2);
  const std::string text = TextOf(model.Output("again"));
  EXPECT_THAT(text, HasSubstr("%y = Dequantize@\"blocks\"(%w)"));
  EXPECT_THAT(text, HasSubstr("%again = Dequantize(%w)"));
  EXPECT_THAT(text, Not(HasSubstr(".codes")));
}

TEST(Blocks, OfAConstantWithSeveralConsumersAreACopyForEachType) {
  ModelBuilder model = Blocked({2, 3}, 2);
  model.Node("DequantizeLinear", {"w", "s"}, {"again"}).Int("axis", 1).Int("block_size", 2);
  model.Constant("t", ir::Tensor::Of<float>({2, 1}, {1, 2}));
  model.Node("DequantizeLinear", {"w", "t"}, {"other"}).Int("axis", 1).Int("block_size", 5);
  model.Node("Cast", {"w"}, {"plain"}).Int("to", 1);
  model.Output("again").Output("other").Output("plain");
  const std::string text = TextOf(model);
  EXPECT_THAT(text, HasSubstr("%y = Dequantize@\"blocks\"(%w.codes)"));
  EXPECT_THAT(text, HasSubstr("%again = Dequantize(%w.codes)"));
  EXPECT_THAT(text, HasSubstr("%other = Dequantize(%w.codes_1)"));
  EXPECT_THAT(text, HasSubstr("%plain = Cast(%w)"));
}

// What an export has that was made before constants are rounded.
TEST(Blocks, OfAFloatConstantAreQuantizedLater) {
  ModelBuilder model(21);
  model.Constant("w", ir::Tensor::Of<float>({3}, {1, 2, 3}));
  model.Constant("s", ir::Tensor::Of<float>({2}, {0.5f, -1}));
  AddFourBit(model, "z", onnx_wire::Tensor::INT4, std::string("\0", 1), 2);
  const auto blocks = [&] { model.Int("axis", 0).Int("block_size", 2); };
  model.Node("QuantizeLinear", {"w", "s", "z"}, {"q"}), blocks();
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}), blocks();
  const std::string text = TextOf(model.Output("y"));
  EXPECT_THAT(text, HasSubstr("%q = Quantize(%w) : tensor<3xi4, axis=0, block=2, "
                              "scale=[0.5, -1], zp=0>"));
  EXPECT_THAT(text, HasSubstr("%y = Dequantize(%q)"));
  model.Constant("t", ir::Tensor::Of<float>({2}, {2, 2}));
  model.Node("DequantizeLinear", {"q", "t", "z"}, {"v"}, "other"), blocks();
  EXPECT_THAT(TextOf(model.Output("v")),
              HasSubstr("DequantizeLinear 'other': input 'q' has other blocks, scales"));
}

TEST(Blocks, OfScalesThatAreNotFiniteAreRefused) {
  ModelBuilder model(21);
  model.Constant("w", ir::Tensor::Of<int8_t>({2}, {1, 2}));
  model.Constant("s", ir::Tensor::Of<float>({1}, {INFINITY}));
  model.Node("DequantizeLinear", {"w", "s"}, {"y"}).Int("axis", 0).Int("block_size", 2);
  EXPECT_THAT(TextOf(model.Output("y")), HasSubstr("'w': scale inf must be finite"));
}

TEST(Blocks, OfAnotherCountThanItsScalesAreRefused) {
  EXPECT_THAT(TextOf(Blocked({2, 2}, 2)), HasSubstr("scale has shape 2x2, must have 2x3"));
  EXPECT_THAT(TextOf(Blocked({2, 3}, -1)), HasSubstr("block_size -1 must be at least 1"));
  // A single block holds all elements, however large block_size is.
  EXPECT_THAT(TextOf(Blocked({2, 1}, INT64_MAX)), Not(HasSubstr("must")));
}

TEST(Blocks, OfActivationsAreUnsupported) {
  ModelBuilder model(21);
  model.Input("x", {2, 4}).Constant("s", ir::Tensor::Of<float>({2, 2}, {1, 1, 1, 1}));
  model.Node("QuantizeLinear", {"x", "s"}, {"q"}, "quant").Int("block_size", 2).Output("q");
  EXPECT_THAT(TextOf(model), HasSubstr("QuantizeLinear 'quant': blocked quantization"));
}

}  // namespace
}  // namespace octavo::onnx

// SPDX-License-Identifier: Apache-2.0
#include "core/target/target.h"

#include <gtest/gtest.h>

namespace octavo::target {
namespace {

TEST(Target, EveryBuiltInReadsAndCarriesItsName) {
  ASSERT_FALSE(BuiltInNames().empty());
  for (const std::string& name : BuiltInNames()) {
    const auto target = BuiltIn(name);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_EQ(target->name, name);
  }
}

TEST(Target, CpuInt8HasTheDocumentedDefaults) {
  const Target target = *BuiltIn("cpu-int8");
  EXPECT_EQ(target.activations.front(), ir::DType::kU8);
  EXPECT_EQ(target.scheme, SchemeKind::kAsymmetric);
  EXPECT_EQ(target.weights.dtype, ir::DType::kI8);
  EXPECT_TRUE(target.weights.per_channel && target.weights.symmetric &&
              target.weights.narrow_range);
  EXPECT_EQ(target.numerics->name, "onnx");
}

TEST(Target, AnUnknownNameListsTheBuiltIns) {
  const auto target = BuiltIn("abacus");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::kUsage);
  EXPECT_NE(target.error().message.find("cpu-int8"), std::string::npos);
}

TEST(Target, AFileTakesItsBaseAndChangesWhatItSays) {
  const auto target = Parse(R"({"name": "mine", "base": "cpu-int8",
                                "weights": {"per_channel": false}, "float_ops": ["Softmax"]})");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->name, "mine");
  EXPECT_FALSE(target->weights.per_channel);
  EXPECT_TRUE(target->weights.symmetric);
  EXPECT_EQ(target->WhyFloat("Softmax", ir::QuantRule::Kind::kFixed),
            "target mine keeps Softmax in float");
  EXPECT_EQ(target->WhyFloat("Sigmoid", ir::QuantRule::Kind::kFixed), "");
}

TEST(Target, AnOpOfItsOwnBringsItsRescaleRule) {
  const auto target = Parse(R"({"name": "npu", "ops": [{"name": "MaxSplat", "domain": "npu",
      "quant": "same-as-input", "rescale": {"inputs": ["sunk"], "output": "raised"}}]})");
  ASSERT_TRUE(target) << target.error().message;
  const ir::OpDef& def = *target->ops.at(0).def;
  EXPECT_EQ(def.name, "MaxSplat");
  EXPECT_EQ(def.rescale.at_input, ir::RescaleRule::AtInput::kSink);
  EXPECT_EQ(def.quant.kind, ir::QuantRule::Kind::kSameScale);
}

TEST(Target, IntegerOpsAreTheOnlyOnesThatComputeInIntegers) {
  using Kind = ir::QuantRule::Kind;
  const Target target = *Parse(R"({"name": "npu", "integer_ops": ["Conv"],
                                   "ops": [{"name": "MaxSplat", "domain": "npu"}]})");
  EXPECT_EQ(target.WhyFloat("Conv", Kind::kFree), "");
  EXPECT_EQ(target.WhyFloat("MaxSplat", Kind::kFree), "");
  EXPECT_EQ(target.WhyFloat("Transpose", Kind::kSameScale), "");
  EXPECT_EQ(target.WhyFloat("Exp", Kind::kFree), "target npu has no integer form of Exp");
}

TEST(Target, TfliteFixesTypes) {
  const Target target = *BuiltIn("tflite");
  EXPECT_EQ(*target.ResultOf("Softmax"), (FixedResult{.scale = 1.f / 256, .zero_point = -128}));
  EXPECT_EQ(target.ResultOf("Conv"), nullptr);
  EXPECT_TRUE(target.PerChannel("Conv"));
  EXPECT_FALSE(target.PerChannel("Gemm"));
  EXPECT_EQ(target.WhyTypeStays("Tanh"), "target tflite fixes the result type of Tanh");
  EXPECT_EQ(target.WhyTypeStays("AveragePool"),
            "target tflite requires the same type before and after AveragePool");
  EXPECT_EQ(target.WhyTypeStays("Conv"), "");
}

TEST(Target, Pow2NpuHasNoFloats) {
  const Target target = *BuiltIn("pow2-npu");
  EXPECT_TRUE(target.pow2_scales && target.fully_quantized && target.integer_io);
  EXPECT_EQ(target.scheme, SchemeKind::kPow2);
  EXPECT_EQ(target.bias_bits, 16);
}

TEST(Target, GlowChoosesZeroPointsItsOwnWay) {
  EXPECT_TRUE(BuiltIn("glow-interpreter")->glow_zero_points());
  EXPECT_TRUE(BuiltIn("glow-cpu")->glow_zero_points());
  EXPECT_FALSE(BuiltIn("tflite")->glow_zero_points());
  EXPECT_EQ(BuiltIn("glow-cpu")->numerics->name, "glow-cpu");
}

TEST(Target, AnOpOfItsOwnMayHaveAttributes) {
  const Target target = *Parse(R"({"name": "npu", "ops": [{"name": "MaxSplat",
      "attributes": {"value": "float", "axes": "ints"}}]})");
  const ir::OpDef& def = *target.ops.at(0).def;
  ASSERT_EQ(def.attributes.size(), 2u);
  EXPECT_EQ(def.attributes[0].name, "axes");
  EXPECT_EQ(def.attributes[1].name, "value");
  EXPECT_EQ(def.attributes[1].kind, ir::AttrKind::kFloat);
}

TEST(Target, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name": "x", "colour": 1})", "unknown key 'colour'"},
      {R"({"name": "x", "weights": {"width": 8}})", "unknown key 'weights.width'"},
      {R"({"name": "x", "weights": {"dtype": "u8"}})", "'weights.dtype' must be i8 or i16"},
      {R"({"name": "x", "numerics": "abacus"})", "'numerics' must be a numerics mode"},
      {R"({"name": "x", "activations": []})", "'activations' must be a list"},
      {R"({"name": "x", "results": {"Tanh": {"scale": 0}}})", "'results.Tanh.scale' must be a"},
      {R"({"name": "x", "results": {"Tanh": {"scale": 1, "zero_point": 256}}})",
       "'results.Tanh.zero_point' must be in the range of u8"},
      {R"({"name": "x", "results": {"Tanh": {"scale": 1, "zero_point": 1e30}}})",
       "'results.Tanh.zero_point' must be an integer"},
      {R"({"name": "x", "results": {"Tanh": {"scale": 1, "zero_point": 4294967296}}})",
       "'results.Tanh.zero_point' must be an integer"},
      {R"({"name": "x", "results": {"Tanh": {"scale": 1e300}}})", "'results.Tanh.scale' must be"},
      {R"({"name": "x", "bias_bits": -1e30})", "'bias_bits' must be 8, 16 or 32"},
      {R"({"name": "x", "bias_bits": true})", "'bias_bits' must be 8, 16 or 32"},
      {R"({"name": "x", "integer_io": 1})", "'integer_io' must be true or false"},
      {R"({"name": "x", "scales": "pow2", "results": {"Tanh": {"scale": 0.3}}})",
       "'results.Tanh.scale' must be a power of two"},
      {R"({"name": "x", "keep": ["Gemm"], "lower": ["Gemm"]})", "'lower' must be without Gemm"},
      {R"({"name": "x", "float_ops": ["Add"], "integer_ops": ["Add"]})",
       "'integer_ops' must be without Add"},
      {R"({"name": "x", "ops": [{"name": "A", "attributes": {"b": "real"}}]})",
       "'ops.attributes' must be an object of int"},
      {R"({"base": "cpu"})", "unknown target 'cpu'"},
      {R"({})", "'name' must be given"},
      {R"([1])", "not a JSON object"},
  };
  for (const auto& [text, message] : cases) {
    const auto target = Parse(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code, Code::kUsage) << text;
    EXPECT_NE(target.error().message.find(message), std::string::npos) << target.error().message;
  }
}

}  // namespace
}  // namespace octavo::target

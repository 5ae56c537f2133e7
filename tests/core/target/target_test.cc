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
  EXPECT_EQ(target.schema, Schema::kAsymmetric);
  EXPECT_EQ(target.weights.dtype, ir::DType::kI8);
  EXPECT_TRUE(target.weights.per_channel && target.weights.symmetric &&
              target.weights.narrow_range);
  EXPECT_EQ(Name(target.numerics), "onnx");
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
  EXPECT_TRUE(target->StaysFloat("Softmax"));
}

TEST(Target, AnOpOfItsOwnBringsItsRescaleRule) {
  const auto target = Parse(R"({"name": "npu", "ops": [{"name": "MaxSplat", "domain": "npu",
      "quant": "same-as-input", "rescale": {"inputs": ["sunk"], "output": "raised"}}]})");
  ASSERT_TRUE(target) << target.error().message;
  const ir::OpDef& def = *target->ops.at(0).def;
  EXPECT_EQ(def.name, "MaxSplat");
  EXPECT_EQ(def.rescale.at_input, ir::RescaleRule::AtInput::kSunk);
  EXPECT_EQ(def.quant.kind, ir::QuantRule::Kind::kSameAsInput);
}

TEST(Target, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name": "x", "colour": 1})", "unknown key 'colour'"},
      {R"({"name": "x", "weights": {"width": 8}})", "unknown key 'weights.width'"},
      {R"({"name": "x", "weights": {"dtype": "u8"}})", "'weights.dtype' must be i8 or i16"},
      {R"({"name": "x", "numerics": "abacus"})", "'numerics' must be a numerics mode"},
      {R"({"name": "x", "activations": []})", "'activations' must be a list"},
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

// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/import.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/core/onnx/model_builder.h"

namespace octavo::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Error ErrorOf(const ModelBuilder& builder, const ImportOptions& options = {}) {
  const auto imported = ImportModel(builder.Build(), options);
  return imported ? Error{.message = "it was imported"} : imported.error();
}

TEST(Import, NodeNamesAreSettledInNodeOrder) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Relu", {"x"}, {"a"}).Node("Relu", {"a"}, {"b"}, "n");
  builder.Node("Relu", {"b"}, {"c"}, "n").Node("Relu", {"c"}, {"d"}, "n").Output("d");
  const auto imported = ImportModel(builder.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  std::vector<std::string> names;
  for (const auto id : imported->graph.nodes()) names.push_back(imported->graph.node(id).name);
  EXPECT_THAT(names, ElementsAre("a", "n", "n_1", "n_2"));
  EXPECT_EQ(imported->ops.at("Relu"), 4);
}

TEST(Import, NodesMayComeInAnyOrder) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Relu", {"a"}, {"b"}).Node("Relu", {"x"}, {"a"}).Output("b");
  const auto imported = ImportModel(builder.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.node(imported->graph.first()).name, "a");
}

TEST(Import, AnInitializerListedAsInputIsAConstant) {
  ModelBuilder builder;
  builder.Input("x", {1, 2}).Input("w", {2, 2}).Constant("w", ir::Tensor(ir::DType::kF32, {2, 2}));
  builder.Node("MatMul", {"x", "w"}, {"y"}).Output("y");
  const auto imported = ImportModel(builder.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.inputs().size(), 1u);
  EXPECT_TRUE(imported->graph.IsConstant(imported->graph.Find("w")));
}

TEST(Import, AValueDefinedTwiceIsNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Node("Relu", {"x"}, {"y"}).Output("y");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("'y' is defined twice"));
}

TEST(Import, ACycleIsNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Add", {"x", "b"}, {"a"}).Node("Relu", {"a"}, {"b"}).Output("b");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.reason, "CYCLE");
  EXPECT_EQ(error.node, "a");
}

TEST(Import, AValueThatNothingDefinesIsNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Add", {"x", "lost"}, {"y"}, "sum").Output("y");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("'sum' (Add) reads 'lost', which is not defined"));
}

TEST(Import, AnOutputThatNothingComputesIsNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("z");
  EXPECT_THAT(ErrorOf(builder).message, HasSubstr("output 'z'"));
}

TEST(Import, AnUnknownOperatorIsUnimplementedAndNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("FooBar", {"x"}, {"y"}, "foo").Output("y");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.code, Code::kUnimplemented);
  EXPECT_EQ(error.node, "foo");
  EXPECT_THAT(error.message, HasSubstr("'FooBar'"));
}

TEST(Import, ControlFlowIsUnimplementedAndNamed) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("If", {"x"}, {"y"}, "branch").Output("y");
  auto* attribute = builder.graph().mutable_node(0)->add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx_wire::Attribute::GRAPH);
  attribute->set_g("");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.code, Code::kUnimplemented);
  EXPECT_EQ(error.node, "branch");
}

TEST(Import, NaNInAWeightNamesTheTensor) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ModelBuilder builder;
    builder.Input("x", {1, 2}).Constant("w", ir::Tensor::Of<float>({2, 1}, {1, bad}));
    builder.Node("MatMul", {"x", "w"}, {"y"}).Output("y");
    const Error error = ErrorOf(builder);
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("'w'"));
  }
}

TEST(Import, InfinityMayBeTheNeutralElementOfAMax) {
  ModelBuilder builder;
  const float lowest = -std::numeric_limits<float>::infinity();
  builder.Input("x", {1, 2}).Constant("c", ir::Tensor::Scalar(lowest));
  builder.Node("Max", {"x", "c"}, {"y"}).Output("y");
  const auto imported = ImportModel(builder.Build());
  EXPECT_TRUE(imported) << imported.error().message;
}

TEST(Import, ATerabyteOfClaimedWeightsIsRefusedBeforeItIsAllocated) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1 << 20, 1 << 20},
                                           {INT64_MAX, INT64_MAX},
                                           {0, INT64_MAX, INT64_MAX},
                                           {-1, 4}}) {
    ModelBuilder builder;
    builder.Input("x", {1, 2}).Constant("w", ir::Tensor(ir::DType::kF32, {2}));
    auto* tensor = builder.graph().mutable_initializer(0);
    tensor->clear_dims();
    for (const int64_t extent : dims) tensor->add_dims(extent);
    builder.Node("MatMul", {"x", "w"}, {"y"}).Output("y");
    const Error error = ErrorOf(builder);
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("tensor 'w'"));
  }
}

TEST(Import, OpsetsOutsideOfOneToTwentyFourAreUnimplemented) {
  for (const int64_t opset : {0, 25}) {
    ModelBuilder builder(opset);
    builder.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("y");
    EXPECT_EQ(ErrorOf(builder).code, Code::kUnimplemented) << opset;
  }
}

// Since opset 23 a model may select the float type in which it quantizes.
TEST(Import, QuantizingInAnotherFloatTypeIsUnimplemented) {
  for (const int64_t type : {0, 1, 10}) {
    ModelBuilder builder(23);
    builder.Input("x", {2}).Constant("s", ir::Tensor::Scalar(0.5f));
    builder.Node("QuantizeLinear", {"x", "s"}, {"q"}).Int("precision", type);
    builder.Node("DequantizeLinear", {"q", "s"}, {"y"}).Output("y");
    const auto imported = ImportModel(builder.Build());
    EXPECT_EQ(imported.has_value(), type != 10);
    if (type == 10) {
      EXPECT_EQ(imported.error().code, Code::kUnimplemented);
      EXPECT_THAT(imported.error().message, HasSubstr("precision"));
    }
  }
}

TEST(Import, BroadcastingBeforeOpset7AlignsWhereItsAxisSays) {
  ModelBuilder builder(6);
  builder.Input("x", {1, 3, 2, 2}).Constant("b", ir::Tensor(ir::DType::kF32, {3}));
  builder.Node("Add", {"x", "b"}, {"y"}).Int("broadcast", 1).Int("axis", 1).Output("y");
  const auto imported = ImportModel(builder.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const ir::Graph& graph = imported->graph;
  const ir::Node* add = graph.Producer(graph.Find("y"));
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(graph.type(add->inputs[1]).shape, (ir::Shape{3, 1, 1}));
}

// ---------------------------------------------------------------- inputs that determine shapes

ModelBuilder ReshapeByInput() {
  ModelBuilder builder;
  builder.Input("x", {2, 3}).Input("shape", {2}, onnx_wire::Tensor::INT64);
  builder.Node("Reshape", {"x", "shape"}, {"y"}, "r").Output("y");
  return builder;
}

TEST(Import, AShapeThatDependsOnAnInputIsRefusedAndNamed) {
  const Error error = ErrorOf(ReshapeByInput());
  EXPECT_EQ(error.code, Code::kUnimplemented);
  EXPECT_EQ(error.field, "shape");
  EXPECT_THAT(error.message, HasSubstr("depends on data"));
}

TEST(Import, WithValuesAnInputThatDecidesAShapeIsAConstantAndTheOthersStay) {
  std::vector<std::string> asked;
  const auto imported =
      ImportModel(ReshapeByInput().Build(),
                  {.value_of = [&](const std::string& name,
                                   const ir::Type&) -> Result<std::optional<ir::Tensor>> {
                    asked.push_back(name);
                    return std::optional(ir::Tensor::Ints({3, 2}));
                  }});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(asked, testing::ElementsAre("shape"));
  EXPECT_EQ(imported->fixed_inputs, asked);
  ASSERT_EQ(imported->inputs.size(), 1u);
  EXPECT_EQ(imported->inputs[0].name, "x");
  EXPECT_EQ(imported->graph.type(imported->graph.Find("y")).shape, (ir::Shape{3, 2}));
}

// ---------------------------------------------------------------- extents

ModelBuilder DynamicModel() {
  ModelBuilder builder;
  builder.Input("x", {kOpen, 3, 8});
  builder.Node("Relu", {"x"}, {"y"}).Output("y");
  return builder;
}

TEST(Import, ADynamicBatchIsOneUnlessGiven) {
  const auto imported = ImportModel(DynamicModel().Build());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->graph.type(imported->graph.inputs()[0]).shape, ElementsAre(1, 3, 8));
  EXPECT_TRUE(imported->inputs[0].dynamic_batch);
  const auto four = ImportModel(DynamicModel().Build(), {.batch = 4});
  ASSERT_TRUE(four);
  EXPECT_THAT(four->graph.type(four->graph.outputs()[0]).shape, ElementsAre(4, 3, 8));
  EXPECT_TRUE(four->outputs[0].batched);
  EXPECT_EQ(four->batch, 4);
}

TEST(Import, ADynamicExtentWithoutABindingSaysWhatToPass) {
  ModelBuilder builder;
  builder.Input("x", {1, kOpen}, onnx_wire::Tensor::FLOAT, "width");
  builder.Node("Relu", {"x"}, {"y"}).Output("y");
  const Error error = ErrorOf(builder);
  EXPECT_EQ(error.code, Code::kUsage);
  EXPECT_THAT(error.message, HasSubstr("--shape x="));
  const auto by_option = ImportModel(builder.Build(), {.shapes = {{"x", {1, 5}}}});
  ASSERT_TRUE(by_option) << by_option.error().message;
  const auto by_samples = ImportModel(builder.Build(), {.sample_shapes = {{"x", {100, 7}}}});
  ASSERT_TRUE(by_samples) << by_samples.error().message;
  EXPECT_THAT(by_samples->graph.type(by_samples->graph.inputs()[0]).shape, ElementsAre(1, 7));
}

TEST(Import, AShapeOptionMustAgreeWithTheModel) {
  EXPECT_EQ(ErrorOf(DynamicModel(), {.shapes = {{"x", {1, 4, 8}}}}).code, Code::kUsage);
  EXPECT_EQ(ErrorOf(DynamicModel(), {.shapes = {{"z", {1, 4, 8}}}}).code, Code::kUsage);
}

// ---------------------------------------------------------------- tensors

TEST(Import, TypedFieldsHoldWhatRawDataWould) {
  ModelBuilder builder;
  builder.Input("x", {3}).Node("Add", {"x", "w"}, {"y"}).Output("y");
  auto* tensor = builder.graph().add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(onnx_wire::Tensor::FLOAT);
  tensor->add_dims(3);
  for (const float value : {1.0f, -2.0f, 3.0f}) tensor->add_float_data(value);
  const auto imported = ImportModel(builder.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  const auto& payload = imported->graph.value(imported->graph.Find("w")).constant->tensor;
  EXPECT_THAT(payload.values<float>(), ElementsAre(1.0f, -2.0f, 3.0f));
}

TEST(Import, NarrowIntegersComeOutOfInt32Data) {
  onnx_wire::Tensor proto;
  proto.set_name("t");
  proto.set_data_type(onnx_wire::Tensor::INT8);
  proto.add_dims(3);
  for (const int value : {-128, -1, 127}) proto.add_int32_data(value);
  const auto tensor = ParseTensor(Blob(proto.SerializeAsString()));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_THAT(tensor->ToInts(), ElementsAre(-128, -1, 127));
}

ModelBuilder ExternalModel(const std::string& location, const std::string& offset) {
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Add", {"x", "w"}, {"y"}).Output("y");
  auto* tensor = builder.graph().add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(onnx_wire::Tensor::FLOAT);
  tensor->add_dims(2);
  tensor->set_data_location(onnx_wire::Tensor::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", offset},
                                   {"length", "8"}}) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return builder;
}

TEST(Import, ExternalDataIsAViewOfItsBlob) {
  std::string bytes(12, '\0');
  bytes.append("\0\0\x80\x3f\0\0\0\x40", 8);
  const Blob weights(std::move(bytes));
  const auto imported =
      ImportModel(ExternalModel("w.bin", "12").Build(), {.external = {{"w.bin", weights}}});
  ASSERT_TRUE(imported) << imported.error().message;
  const auto& payload = imported->graph.value(imported->graph.Find("w")).constant->tensor;
  EXPECT_THAT(payload.values<float>(), ElementsAre(1.0f, 2.0f));
  EXPECT_EQ(payload.raw(), weights.bytes().data() + 12);
}

TEST(Import, ExternalDataStaysInItsBlobAndFolder) {
  const ImportOptions options{.external = {{"w.bin", Blob(std::string(16, '\0'))}}};
  for (const std::string offset : {"9", "-1", "18446744073709551615", "x"}) {
    EXPECT_EQ(ErrorOf(ExternalModel("w.bin", offset), options).code, Code::kInvalidArgument);
  }
  for (const std::string location : {"../w.bin", "/etc/passwd", "a/../../b", "", "a\\b", "./w"}) {
    const Error error = ErrorOf(ExternalModel(location, "0"), options);
    EXPECT_EQ(error.reason, "EXTERNAL_DATA") << location;
    EXPECT_FALSE(ListExternalData(ExternalModel(location, "0").Build())) << location;
  }
  const auto listed = ListExternalData(ExternalModel("sub/w.bin", "0").Build());
  ASSERT_TRUE(listed);
  EXPECT_THAT(*listed, ElementsAre("sub/w.bin"));
}

}  // namespace
}  // namespace octavo::onnx

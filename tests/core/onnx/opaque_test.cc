// SPDX-License-Identifier: Apache-2.0
// Models with nodes that no graph holds are cut in two, and put together again.
#include <gmock/gmock.h>

#include "core/onnx/export/export.h"
#include "core/onnx/import/import.h"
#include "core/onnx/versions/kept_forms.h"
#include "core/onnx/wire/opaque_part.h"
#include "core/onnx/wire/raw_model.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const ImportOptions kLeave = {.opaque = true};

ir::Tensor Ones(const ir::Shape& shape) {
  return ir::Tensor::Of<float>(
      shape, std::vector<float>(static_cast<size_t>(ir::NumElements(shape)), 1.0f));
}

// x -> Relu -> h -> Odd -> o -> Relu -> y
ModelBuilder Custom() {
  ModelBuilder builder;
  builder.Input("x", {1, 4}).Node("Relu", {"x"}, {"h"}, "first");
  builder.Node("Odd", {"h"}, {"o"}, "odd").Domain("d").Int("keep", 7);
  builder.Node("Relu", {"o"}, {"y"}, "last").Output("y");
  return builder;
}

onnx_wire::Model Written(const Imported& imported) {
  const auto exported = ExportModel(imported.graph, {.contract = &imported.contract});
  onnx_wire::Model model;
  EXPECT_TRUE(exported) << exported.error().message;
  EXPECT_TRUE(exported && model.ParseFromString(exported->model));
  return model;
}

std::vector<std::string> NodesOf(const onnx_wire::Model& model) {
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) names.push_back(node.name());
  return names;
}

TEST(Opaque, UnknownNodesAndTheirFollowersAreLeftOut) {
  const auto imported = ImportModel(Custom().Build(), kLeave);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.node_count(), 1);
  EXPECT_EQ(imported->nodes, 3);
  const OpaquePart& part = *imported->contract.opaque;
  ASSERT_EQ(part.nodes.size(), 2u);
  EXPECT_EQ(part.nodes[0].name, "odd");
  EXPECT_FALSE(part.nodes[0].follows);
  EXPECT_TRUE(part.nodes[1].follows);
  EXPECT_THAT(part.handed, ElementsAre("h"));
  EXPECT_EQ(imported->warnings.size(), 2u);
  const onnx_wire::Model model = Written(*imported);
  EXPECT_THAT(NodesOf(model), ElementsAre("first", "odd", "last"));
  EXPECT_EQ(model.graph().node(1).attribute(0).i(), 7);
  ASSERT_EQ(model.graph().output_size(), 1);
  EXPECT_EQ(model.graph().output(0).name(), "y");
}

TEST(Opaque, IsAnErrorUnlessItIsAskedFor) {
  const auto imported = ImportModel(Custom().Build());
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, Code::kUnimplemented);
  EXPECT_EQ(imported.error().node, "odd");
}

TEST(Opaque, AnArrayOfAResultTakesItsPlace) {
  ImportOptions options = kLeave;
  options.array_of = [](const std::string& name) -> std::optional<ir::Type> {
    if (name != "o") return std::nullopt;
    return ir::Type{ir::DType::kF32, {16, 4}, {}, {}};
  };
  const auto imported = ImportModel(Custom().Build(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.node_count(), 2);
  ASSERT_EQ(imported->graph.inputs().size(), 2u);
  EXPECT_EQ(imported->graph.name(imported->graph.inputs()[1]), "o");
  EXPECT_EQ(imported->graph.type(imported->graph.inputs()[1]).shape, (ir::Shape{1, 4}));
  const onnx_wire::Model model = Written(*imported);
  EXPECT_EQ(model.graph().input_size(), 1);
  EXPECT_THAT(NodesOf(model), ElementsAre("first", "odd", "last"));
}

TEST(Opaque, ANodeThatReadsAValueEarlyWaitsForIt) {
  ModelBuilder builder;
  builder.Input("x", {1, 4}).Node("Neg", {"o"}, {"n"}, "early");
  builder.Node("Relu", {"x"}, {"h"}, "late");
  builder.Node("Odd", {"h"}, {"o"}, "odd").Domain("d").Output("n").Output("h");
  ImportOptions options = kLeave;
  options.array_of = [](const std::string&) {
    return std::optional(ir::Type{ir::DType::kF32, {2, 4}, {}, {}});
  };
  const auto imported = ImportModel(builder.Build(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(NodesOf(Written(*imported)), ElementsAre("late", "odd", "early"));
}

TEST(Opaque, BodiesCaptureValuesOfTheGraphAround) {
  ModelBuilder inner;
  inner.Node("Add", {"own", "w"}, {"inner_out"}).Output("inner_out");
  ModelBuilder side;
  side.Constant("local", Ones({1}));
  side.Node("Mul", {"h", "local"}, {"own"}).Node("If", {"c"}, {"z"});
  side.Graph("then_branch", inner).Graph("else_branch", inner).Output("z");
  ModelBuilder builder;
  builder.Input("x", {1, 4}).Constant("c", ir::Tensor::Scalar<uint8_t>(1)).Constant("w", Ones({1}));
  builder.Node("Relu", {"x"}, {"h"}).Node("If", {"c"}, {"y"}, "choice");
  builder.Graph("then_branch", side).Graph("else_branch", side).Output("y");
  const auto imported = ImportModel(builder.Build(), kLeave);
  ASSERT_TRUE(imported) << imported.error().message;
  const OpaqueNode& node = imported->contract.opaque->nodes.front();
  EXPECT_THAT(node.reads, ElementsAre("c", "h", "c", "w"));
  EXPECT_THAT(node.own_ops, UnorderedElementsAre("Mul", "Add", "If"));
  EXPECT_THAT(imported->contract.opaque->handed, ElementsAre("h"));
  const onnx_wire::Model model = Written(*imported);
  EXPECT_EQ(model.graph().initializer_size(), 2);
}

TEST(Opaque, HostileBodiesAreBounded) {
  ModelBuilder body;
  body.Node("Identity", {"x"}, {"z"}).Output("z");
  std::string nested = body.graph().SerializeAsString();
  for (int depth = 0; depth < 100; ++depth) {
    onnx_wire::Graph around;
    onnx_wire::Node& node = *around.add_node();
    node.set_op_type("If");
    onnx_wire::Attribute& attribute = *node.add_attribute();
    attribute.set_name("then_branch");
    attribute.set_g(nested);
    nested = around.SerializeAsString();
    const auto read = ReadSubgraphs(Blob(node.SerializeAsString()));
    EXPECT_EQ(bool(read), depth < 32) << depth;
  }
  onnx_wire::Node many;
  onnx_wire::Graph graph;
  for (int i = 0; i < 1000; ++i) graph.add_node()->add_output(std::to_string(i));
  many.add_attribute()->set_g(graph.SerializeAsString());
  const auto read = ReadSubgraphs(Blob(many.SerializeAsString()), {.fields = 500});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kTooLarge);
  const std::string bytes = many.SerializeAsString();
  for (size_t cut = 1; cut < 200; ++cut) {
    EXPECT_FALSE(ReadSubgraphs(Blob(bytes.substr(0, bytes.size() - cut)))) << cut;
  }
}

TEST(Opaque, EveryUnsupportedNodeIsFoundAtOnce) {
  ModelBuilder builder;
  builder.Input("x", {2, 4}).Node("NonZero", {"x"}, {"places"}, "where");
  builder.Node("Cast", {"places"}, {"floats"}, "cast").Int("to", 1);
  builder.Node("Odd", {"x"}, {"o"}, "odd").Domain("d").Output("floats").Output("o");
  const auto imported = ImportModel(builder.Build(), kLeave);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.node_count(), 0);
  std::vector<std::string> roots;
  for (const OpaqueNode& node : imported->contract.opaque->nodes) {
    if (!node.follows) roots.push_back(node.name);
  }
  EXPECT_THAT(roots, UnorderedElementsAre("where", "odd"));
  EXPECT_EQ(imported->contract.opaque->types.at("places").elements, "i64");
}

TEST(Opaque, ShapeMayNameAResult) {
  ModelBuilder builder;
  builder.Input("x", {1, 4}).Node("Odd", {"x"}, {"selected"}, "odd").Domain("d").Output("selected");
  ImportOptions options = kLeave;
  options.shapes = {{"selected", {5, 3}}};
  const auto given = ImportModel(builder.Build(), options);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_THAT(*given->contract.opaque->types.at("selected").extents, ElementsAre("5", "3"));
  options.shapes = {{"selecte", {5, 3}}};
  const auto imported = ImportModel(builder.Build(), options);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, Code::kUsage);
  EXPECT_THAT(imported.error().message, HasSubstr("'selected'"));
}

TEST(KeptForms, OnlyWhatNoVersionChanged) {
  EXPECT_TRUE(KeepsForm("NonMaxSuppression", 11, 13));
  EXPECT_TRUE(KeepsForm("If", 11, 21));
  EXPECT_TRUE(KeepsForm("Frobnicate", 11, 11));
  EXPECT_FALSE(KeepsForm("Frobnicate", 11, 13));
  EXPECT_FALSE(KeepsForm("Squeeze", 11, 13));
  EXPECT_TRUE(KeepsForm("Squeeze", 13, 18));
  EXPECT_FALSE(KeepsForm("Clip", 10, 13));
}

}  // namespace
}  // namespace octavo::onnx

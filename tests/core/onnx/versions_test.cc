// SPDX-License-Identifier: Apache-2.0
// Operator versions of old opsets.  Each is imported as the newest version, exported at its own
// opset and at opsets 21 and 24, and imported from each export as the same graph.
#include <gmock/gmock.h>

#include "core/onnx/export/export.h"
#include "core/onnx/wire/model_proto.h"
#include "core/text/print.h"
#include "tests/core/onnx/model_builder.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Version {
  std::string name = {};
  ModelBuilder model;
  // What the text of the imported graph must contain.
  std::string newest = {};
};

void PrintTo(const Version& version, std::ostream* out) { *out << version.name; }

ModelBuilder X(int64_t opset, const ir::Shape& shape = {2, 4, 6, 6}) {
  ModelBuilder builder(opset);
  builder.Input("x", shape).Output("y");
  return builder;
}

ir::Tensor Ints(const std::vector<int64_t>& values) { return ir::Tensor::Ints(values); }

std::vector<Version> ReshapingVersions() {
  return {
      {"Squeeze11", X(11, {1, 4}).Node("Squeeze", {"x"}, {"y"}).Ints("axes", {0}),
       "Squeeze(%x, %y.axes)"},
      {"Squeeze13", X(13, {1, 4}).Constant("a", Ints({0})).Node("Squeeze", {"x", "a"}, {"y"}),
       "Squeeze(%x, %a)"},
      {"Unsqueeze9", X(9, {3}).Node("Unsqueeze", {"x"}, {"y"}).Ints("axes", {0, 2}),
       "Unsqueeze(%x, %y.axes)"},
      {"Slice9",
       X(9).Node("Slice", {"x"}, {"y"}).Ints("axes", {1}).Ints("ends", {3}).Ints("starts", {1}),
       "Slice(%x, %y.starts, %y.ends, %y.axes)"},
      {"Slice10",
       X(10)
           .Constant("s", Ints({1}))
           .Constant("e", Ints({3}))
           .Node("Slice", {"x", "s", "e"}, {"y"}),
       "Slice(%x, %s, %e)"},
      {"Split11",
       X(11).Node("Split", {"x"}, {"y", "z"}).Int("axis", 1).Ints("split", {1, 3}).Output("z"),
       "Split(%x, %y.split)"},
      {"SplitEqual13", X(13).Node("Split", {"x"}, {"y", "z"}).Int("axis", 1).Output("z"),
       "num_outputs=2"},
      {"SplitWithAnUnreadPart13", X(13).Node("Split", {"x"}, {"y", "z"}).Int("axis", 1),
       "num_outputs=2"},
      {"SplitCount18",
       X(18).Node("Split", {"x"}, {"y", "z"}).Int("axis", 1).Int("num_outputs", 2).Output("z"),
       "num_outputs=2"},
      {"Pad7",
       X(7).Node("Pad", {"x"}, {"y"})
           .String("mode", "constant")
           .Ints("pads", {0, 0, 1, 1, 0, 0, 1, 1})
           .Float("value", 2),
       "Pad(%x, %y.pads, %y.value)"},
      {"Pad11", X(11).Constant("p", Ints({0, 0, 1, 1, 0, 0, 1, 1})).Node("Pad", {"x", "p"}, {"y"}),
       "Pad(%x, %p)"},
      {"Flatten7", X(7).Node("Flatten", {"x"}, {"y"}).Int("axis", 2), "Flatten(%x) {axis=2}"},
      {"DepthToSpace7", X(7).Node("DepthToSpace", {"x"}, {"y"}).Int("blocksize", 2),
       "DepthToSpace(%x)"},
  };
}

std::vector<Version> ComputingVersions() {
  return {
      {"Clip7", X(7).Node("Clip", {"x"}, {"y"}).Float("max", 6).Float("min", 0),
       "Clip(%x, %y.min, %y.max)"},
      {"ClipOneSided10", X(10).Node("Clip", {"x"}, {"y"}).Float("max", 6), "Clip(%x, _, %y.max)"},
      {"ReduceMean13", X(13).Node("ReduceMean", {"x"}, {"y"}).Ints("axes", {2, 3}),
       "ReduceMean(%x, %y.axes)"},
      {"ReduceMax12", X(12).Node("ReduceMax", {"x"}, {"y"}).Ints("axes", {-1}).Int("keepdims", 0),
       "ReduceMax(%x, %y.axes)"},
      {"ReduceSum11", X(11).Node("ReduceSum", {"x"}, {"y"}).Ints("axes", {1}),
       "ReduceSum(%x, %y.axes)"},
      {"ReduceMean18", X(18).Constant("a", Ints({1})).Node("ReduceMean", {"x", "a"}, {"y"}),
       "ReduceMean(%x, %a)"},
      {"TopK9", X(9).Node("TopK", {"x"}, {"y", "i"}).Int("axis", 1).Int("k", 2).Output("i"),
       "TopK(%x, %y.k)"},
      {"TopK11",
       X(11)
           .Constant("k", Ints({2}))
           .Node("TopK", {"x", "k"}, {"y", "i"})
           .Int("axis", 1)
           .Int("largest", 0)
           .Output("i"),
       "TopK(%x, %k)"},
  };
}

std::vector<Version> NormalizingVersions() {
  return {
      {"SoftmaxOfRows7", X(7, {2, 5}).Node("Softmax", {"x"}, {"y"}), "Softmax(%x) {axis=1}"},
      {"SoftmaxCoerced11", X(11).Node("Softmax", {"x"}, {"y"}).Int("axis", 1),
       "Softmax(%y.coerced)"},
      {"Softmax13", X(13).Node("Softmax", {"x"}, {"y"}).Int("axis", 1), "Softmax(%x) {axis=1}"},
      {"Upsample7",
       X(7).Node("Upsample", {"x"}, {"y"}).String("mode", "nearest").Floats("scales", {1, 1, 2, 2}),
       "Resize(%x, _, %y.scales)"},
      {"Upsample9",
       X(9).Constant("s", ir::Tensor::Of<float>({4}, {1, 1, 2, 2}))
           .Node("Upsample", {"x", "s"}, {"y"})
           .String("mode", "nearest"),
       "Resize(%x, _, %s)"},
      {"Resize10",
       X(10)
           .Constant("s", ir::Tensor::Of<float>({4}, {1, 1, 2, 2}))
           .Node("Resize", {"x", "s"}, {"y"})
           .String("mode", "linear"),
       "coordinate_transformation_mode=\"asymmetric\""},
      {"Dropout7", X(7).Node("Dropout", {"x"}, {"y", "mask"}), "Dropout(%x)"},
      {"MaxPool7", X(7).Node("MaxPool", {"x"}, {"y"}).Ints("kernel_shape", {2, 2}), "MaxPool(%x)"},
      {"Gemm7",
       X(7, {2, 3})
           .Constant("w", ir::Tensor(ir::DType::kF32, {3, 4}))
           .Constant("b", ir::Tensor(ir::DType::kF32, {4}))
           .Node("Gemm", {"x", "w", "b"}, {"y"}),
       "Gemm(%x, %w, %b)"},
      {"ImageScaler7",
       X(7, {1, 2, 3, 3})
           .Node("ImageScaler", {"x"}, {"y"})
           .Floats("bias", {1, 2})
           .Float("scale", 3),
       "Add(%y.scaled, %y.bias)"},
      {"BatchNormalization7",
       X(7).Constant("g", ir::Tensor(ir::DType::kF32, {4}))
           .Constant("v", ir::Tensor::Of<float>({4}, {1, 1, 1, 1}))
           .Node("BatchNormalization", {"x", "g", "g", "g", "v"}, {"y", "m1", "m2"})
           .Float("momentum", 0.9f),
       "BatchNormalization(%x, %g, %g, %g, %v)"},
  };
}

std::vector<Version> AllVersions() {
  std::vector<Version> versions = ReshapingVersions();
  for (Version& version : ComputingVersions()) versions.push_back(std::move(version));
  for (Version& version : NormalizingVersions()) versions.push_back(std::move(version));
  return versions;
}

std::string Printed(ir::Graph graph) {
  graph.opsets.clear();
  return text::Print(graph, {.old_names = false});
}

class OperatorVersions : public testing::TestWithParam<Version> {};

TEST_P(OperatorVersions, ImportsAsTheNewestVersion) {
  const auto imported = test::ImportFolded(GetParam().model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(Printed(imported->graph), HasSubstr(GetParam().newest));
}

TEST_P(OperatorVersions, ImportsAsTheSameGraphFromItsOwnOpsetAndFromNewerOnes) {
  const auto imported = test::ImportFolded(GetParam().model.Build());
  ASSERT_TRUE(imported) << imported.error().message;
  for (const int64_t opset : {imported->opset, int64_t{21}, int64_t{24}}) {
    const auto exported = ExportModel(imported->graph, {.opset = opset});
    ASSERT_TRUE(exported) << opset << ": " << exported.error().message;
    const auto again = test::ImportFolded(Blob(exported->model));
    ASSERT_TRUE(again) << opset << ": " << again.error().message;
    EXPECT_EQ(Printed(again->graph), Printed(imported->graph)) << opset;
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, OperatorVersions, testing::ValuesIn(AllVersions()),
                         [](const auto& info) { return info.param.name; });

TEST(OperatorVersions, ClipOfOpset7IsWrittenWithItsAttributes) {
  const auto imported =
      test::ImportFolded(X(7).Node("Clip", {"x"}, {"y"}).Float("max", 6).Float("min", 0).Build());
  ASSERT_TRUE(imported);
  const auto exported = ExportModel(imported->graph);
  ASSERT_TRUE(exported);
  const auto parsed = ParseModel(Blob(exported->model));
  const auto& node = parsed->model.graph().node(0);
  EXPECT_THAT(node.input(), ElementsAre("x"));
  EXPECT_EQ(node.attribute_size(), 2);
  EXPECT_EQ(parsed->model.graph().initializer_size(), 0);
  EXPECT_EQ(parsed->model.ir_version(), 4);
}

TEST(OperatorVersions, ANodeThatTheOpsetCannotExpressRaisesTheOpset) {
  // A Softmax over an inner axis; opsets before 13 have only the Softmax of a matrix.
  const auto imported =
      test::ImportFolded(X(13).Node("Softmax", {"x"}, {"y"}).Int("axis", 1).Build());
  ASSERT_TRUE(imported);
  ir::Graph graph = imported->graph;
  graph.opsets[""] = 9;
  const auto exported = ExportModel(graph);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->opset, 13);
  const auto kept = ExportModel(graph, {.opset = 9});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Code::kUnimplemented);
}

}  // namespace
}  // namespace octavo::onnx

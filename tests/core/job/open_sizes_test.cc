// SPDX-License-Identifier: Apache-2.0
// Symbolic dimensions stay symbolic in the export: only what a rewrite needed is bound, with a
// warning that names the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/onnx/import/import.h"
#include "core/onnx/wire/model_proto.h"
#include "tests/core/job/sized_job.h"

namespace octavo::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// view(x.size(0), -1) as PyTorch writes it.
void AddView(ModelBuilder& builder, const std::string& from, const std::string& to,
             const std::vector<int64_t>& rest) {
  builder.Constant("zero", ir::Tensor::Scalar<int64_t>(0)).Constant("front", Ints({0}));
  builder.Constant("rest", Ints(rest));
  builder.Node("Shape", {from}, {"shape"}).Node("Gather", {"shape", "zero"}, {"size"});
  builder.Node("Unsqueeze", {"size", "front"}, {"sizes"});
  builder.Node("Concat", {"sizes", "rest"}, {"target"}).Int("axis", 0);
  builder.Node("Reshape", {from, "target"}, {to}, "view");
}

TEST(OpenSizes, SymbolicDimensionsStaySymbolicInTheExport) {
  ModelBuilder builder = Image();
  builder.Node("Relu", {"c"}, {"y"}, "relu");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "width"));
  EXPECT_THAT(OutputOf(done), ElementsAre("batch", "4", "height", "width"));
  for (const onnx_wire::ValueInfo& info : done.model.graph().value_info()) {
    if (DimsOf(info).size() != 4 || info.name().starts_with("w")) continue;
    EXPECT_EQ(DimsOf(info)[3], "width") << info.name();
  }
  EXPECT_TRUE(Fixed(done).empty()) << done.report["warnings"];
}

TEST(OpenSizes, UnnamedDimensionsStayUnnamed) {
  ModelBuilder builder = Image();
  auto& dims = InputDims(builder);
  for (onnx_wire::Dimension& dim : dims) {
    if (!dim.has_dim_value()) dim.Clear();
  }
  builder.Node("Relu", {"c"}, {"y"}, "relu");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("?", "3", "?", "?"));
  EXPECT_THAT(OutputOf(done), ElementsAre("?", "4", "?", "?"));
}

TEST(OpenSizes, AViewOfTheBatchKeepsIt) {
  ModelBuilder builder = Image();
  builder.Node("GlobalAveragePool", {"c"}, {"p"});
  AddView(builder, "p", "v", {-1});
  builder.Constant("m", Noise({4, 5})).Node("MatMul", {"v", "m"}, {"y"}, "linear");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "width"));
  EXPECT_THAT(OutputOf(done), ElementsAre("batch", "5"));
}

// view(batch * 4, height * width), then other operators: no 0 or -1 says both.
TEST(OpenSizes, ProductsOfSizesAreComputedInTheExport) {
  ModelBuilder builder = Image();
  builder.Constant("four", Ints({4}));
  builder.Node("Shape", {"c"}, {"shape"});
  for (const auto& [name, axis] : {std::pair{"n", 0}, {"h", 2}, {"w", 3}}) {
    const std::string at = fmt::format("axis{}", axis);
    builder.Constant(at, Ints({axis}))
        .Node("Gather", {"shape", at}, {fmt::format("size_{}", name)});
  }
  builder.Node("Mul", {"size_n", "four"}, {"rows"}).Node("Mul", {"size_h", "size_w"}, {"columns"});
  builder.Node("Concat", {"rows", "columns"}, {"target"}).Int("axis", 0);
  builder.Node("Reshape", {"c", "target"}, {"v"}, "view").Node("Sigmoid", {"v"}, {"y"}, "s");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "width"));
  onnx::ImportOptions options;
  options.shapes["x"] = {3, 3, 9, 14};
  const auto at = onnx::ImportModel(done.outcome.model.bytes, options);
  ASSERT_TRUE(at) << at.error().message;
  EXPECT_EQ(at->graph.type(at->graph.outputs()[0]).shape, (ir::Shape{12, 126}));
}

TEST(OpenSizes, SizesThatTheModelComputesAreComputedInTheExport) {
  const SizedDone done = RunJob(ResizedToSkip());
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "width"));
  for (const int64_t side : {16, 21}) {
    onnx::ImportOptions options;
    options.shapes["x"] = {2, 3, side, side + 3};
    const auto at = onnx::ImportModel(done.outcome.model.bytes, options);
    ASSERT_TRUE(at) << at.error().message;
    EXPECT_EQ(at->graph.type(at->graph.outputs()[0]).shape, (ir::Shape{2, 8, side, side + 3}));
  }
}

TEST(OpenSizes, AJobOnItsOwnResultChangesNoByte) {
  const SizedDone first = RunJob(ResizedToSkip());
  const SizedDone second = RunJob(first.outcome.model.bytes, {Noise({16, 3, 16, 16})},
                                  [](Request& request) { request.options.no_quantize = true; });
  EXPECT_TRUE(first.outcome.model.bytes.text() == second.outcome.model.bytes.text());
}

TEST(OpenSizes, VerifyReproducesTheBytes) {
  ModelBuilder builder = Image();
  auto& dims = InputDims(builder);
  for (const int axis : {2, 3}) {
    dims[axis].Clear();
    dims[axis].set_dim_value(16);
  }
  builder.Node("GlobalAveragePool", {"c"}, {"p"});
  AddView(builder, "p", "y", {-1});
  const SizedDone done = RunJob(builder, [](Request& request) { request.certificate = true; });
  EXPECT_THAT(OutputOf(done), ElementsAre("batch", "4"));
  const auto verification = VerifyJob({.before = done.request.model,
                                       .before_external = {},
                                       .after = done.outcome.model,
                                       .after_external = done.outcome.external,
                                       .certificate = {"m.cert", Blob(done.outcome.certificate)}});
  EXPECT_TRUE(verification) << verification.error().message;
}

// ------------------------------------------------------------ what binds

TEST(OnlyWhatARewriteNeededIsBound, ASliceThatIsNoneAtThisSize) {
  ModelBuilder builder = Image();
  builder.Constant("from", Ints({0})).Constant("to", Ints({16})).Constant("axes", Ints({2}));
  builder.Node("Slice", {"c", "from", "to", "axes"}, {"s"}, "slice");
  builder.Node("Relu", {"s"}, {"y"}, "relu");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "16", "width"));
  ASSERT_EQ(Fixed(done).size(), 1u) << done.report["warnings"];
  EXPECT_EQ(Fixed(done)[0]["node"], "slice");
  EXPECT_THAT(Fixed(done)[0]["message"].get<std::string>(),
              HasSubstr("dimension 2 ('height') of input 'x' is open in the model and 16 in the "
                        "result: Slice 'slice'"));
}

TEST(OnlyWhatARewriteNeededIsBound, PadsThatFollowFromTheSize) {
  ModelBuilder builder = Image();
  builder.Constant("v", Noise({4, 4, 3, 3}, 0.2f)).Node("Conv", {"c", "v"}, {"y"}, "same");
  builder.String("auto_pad", "SAME_UPPER").Ints("strides", {2, 2});
  const SizedDone done = RunJob(builder);
  const Names input = InputOf(done);
  EXPECT_EQ(input[0], "batch");
  // Either the operator keeps auto_pad, or what replaced it has these pads only.
  for (const json& warning : Fixed(done)) EXPECT_EQ(warning["node"], "same");
  EXPECT_EQ(Fixed(done).empty(), input[2] == "height");
}

TEST(OnlyWhatARewriteNeededIsBound, ALinearLayerOfTheWholeImage) {
  ModelBuilder builder = Image();
  AddView(builder, "c", "v", {-1});
  builder.Constant("m", Noise({1024, 5}, 0.1f)).Node("MatMul", {"v", "m"}, {"y"}, "linear");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "16", "16"));
  EXPECT_THAT(OutputOf(done), ElementsAre("batch", "5"));
  ASSERT_EQ(Fixed(done).size(), 2u) << done.report["warnings"];
  for (const json& warning : Fixed(done)) EXPECT_EQ(warning["node"], "linear");
}

TEST(OnlyWhatARewriteNeededIsBound, AFloatConstantThatFollowsFromTheSize) {
  ModelBuilder builder = Image();
  builder.Constant("last", ir::Tensor::Scalar<int64_t>(3));
  builder.Node("Shape", {"c"}, {"shape"}).Node("Gather", {"shape", "last"}, {"width"});
  builder.Node("Cast", {"width"}, {"real"}).Int("to", onnx_wire::Tensor::FLOAT);
  builder.Node("Div", {"c", "real"}, {"y"}, "divide");
  const SizedDone done = RunJob(builder);
  EXPECT_THAT(InputOf(done), ElementsAre("batch", "3", "height", "16"));
  ASSERT_EQ(Fixed(done).size(), 1u) << done.report["warnings"];
  EXPECT_EQ(Fixed(done)[0]["node"], "divide");
}

TEST(OnlyWhatARewriteNeededIsBound, WhatTheUserGivesIsFixedWithoutAWarning) {
  ModelBuilder builder = Image();
  builder.Node("Relu", {"c"}, {"y"}, "relu");
  const SizedDone shaped = RunJob(builder, [](Request& request) {
    request.options.shape["x"] = {2, 3, 16, 16};
  });
  EXPECT_THAT(InputOf(shaped), ElementsAre("2", "3", "16", "16"));
  EXPECT_TRUE(Fixed(shaped).empty());
  const SizedDone batch = RunJob(builder, [](Request& request) { request.options.batch = 4; });
  EXPECT_THAT(InputOf(batch), ElementsAre("4", "3", "height", "width"));
  EXPECT_TRUE(Fixed(batch).empty());
}

TEST(OnlyWhatARewriteNeededIsBound, AModelOfMoreThan32OpenSizes) {
  ModelBuilder builder;
  Names inputs;
  std::vector<std::pair<std::string, ir::Tensor>> samples;
  for (int i = 0; i < 33; ++i) {
    inputs.push_back(fmt::format("x{}", i));
    builder.Input(inputs.back(), {1, kOpen});
    InputDims(builder, i)[1].set_dim_param(inputs.back());
    samples.emplace_back(inputs.back(), Noise({1, 2}));
  }
  builder.Node("Concat", inputs, {"y"}, "joined").Int("axis", 1).Output("y");
  const SizedDone done = RunJob(builder, [&](Request& request) {
    request.samples = {{"x.npz", Blob(data::WriteNpz(samples).value())}};
    request.options.no_quantize = true;
  });
  EXPECT_THAT(InputOf(done), ElementsAre("1", "2"));
  ASSERT_EQ(Fixed(done).size(), 33u);
  EXPECT_THAT(Fixed(done)[0]["message"].get<std::string>(),
              HasSubstr("the model has more than 32 open sizes"));
}

TEST(OnlyWhatARewriteNeededIsBound, AGraphInTextHasFixedSizes) {
  ModelBuilder builder = Image();
  builder.Node("Relu", {"c"}, {"y"}, "relu");
  Request request{.model = {"m.onnx", builder.Build()},
                  .samples = {{"x.npy", Blob(data::WriteNpy(Noise({16, 3, 16, 16})))}}};
  request.options.emit = EmitForm::kText;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->report_json, HasSubstr("native and text graphs have fixed sizes"));
}

// ------------------------------------------------------------ the shared models

class SharedModels : public testing::TestWithParam<std::string> {};

// The model with symbols for batch, height and width (or length).
onnx_wire::Model Opened(const Blob& bytes, ir::Shape& shape, std::string& name) {
  onnx_wire::Model model;
  EXPECT_TRUE(model.ParseFromString(std::string(bytes.text())));
  std::set<std::string> constants;
  for (const auto& each : model.graph().initializer()) constants.insert(each.name());
  for (onnx_wire::ValueInfo& info : *model.mutable_graph()->mutable_input()) {
    if (constants.contains(info.name())) continue;
    name = info.name();
    auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
    for (int axis = 0; axis < dims.size(); ++axis) {
      shape.push_back(dims[axis].has_dim_value() ? dims[axis].dim_value() : 1);
      if (axis == 1 && dims.size() == 4) continue;
      dims[axis].Clear();
      dims[axis].set_dim_param(fmt::format("size{}", axis));
    }
  }
  return model;
}

TEST_P(SharedModels, HaveTheSameShapesAtEverySizeThatStaysOpen) {
  const auto path = std::filesystem::path(OCTAVO_SHARED_DIR) / "models" / GetParam() / "model.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto bytes = Blob::MapFile(path.string());
  ASSERT_TRUE(bytes) << bytes.error().message;
  ir::Shape shape;
  std::string name;
  const onnx_wire::Model model = Opened(*bytes, shape, name);
  const Blob before(model.SerializeAsString());
  const auto imported = onnx::ImportModel(*bytes);
  ASSERT_TRUE(imported) << imported.error().message;
  const bool real = imported->inputs[0].dtype == ir::DType::kF32;
  ASSERT_TRUE(real || imported->inputs[0].dtype == ir::DType::kI32);
  const SizedDone done = RunJob(before, {real ? Noise(shape) : ir::Tensor(ir::DType::kI32, shape)});
  ASSERT_FALSE(done.report.is_null());
  const Names dims = InputOf(done);
  for (const json& warning : Fixed(done)) {
    EXPECT_FALSE(warning["node"].get<std::string>().empty()) << warning;
  }
  int64_t compared = 0, open = 0;
  for (int64_t more = 1; more <= 64; more *= 2) {
    onnx::ImportOptions options;
    ir::Shape& larger = options.shapes[name] = shape;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool is_open = dims[axis].starts_with("size");
      open += is_open;
      if (is_open) larger[axis] += more * static_cast<int64_t>(axis + 1);
    }
    const auto was = onnx::ImportModel(before, options);
    if (!was) continue;  // no size of the model
    const auto is = onnx::ImportModel(done.outcome.model.bytes, options);
    ASSERT_TRUE(is) << ir::ToString(larger) << ": " << is.error().message;
    for (const ir::NodeId id : was->graph.nodes()) {
      for (const ir::ValueId value : was->graph.node(id).results) {
        const ir::ValueId own = is->graph.Find(was->graph.name(value));
        if (!own) continue;
        ++compared;
        EXPECT_EQ(is->graph.type(own).shape, was->graph.type(value).shape)
            << was->graph.name(value) << " at " << ir::ToString(larger);
      }
    }
  }
  EXPECT_TRUE(open == 0 || compared > 0);
}

INSTANTIATE_TEST_SUITE_P(Trained, SharedModels,
                         testing::Values("fastestdet", "magika_v3_3", "mnist_cnn_pytorch",
                                         "mnist_cntk", "squeezenet_products", "superres_224",
                                         "ultraface_rfb320"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Requirements of targets, and profiles of a graph in another form than the target requires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/job.h"
#include "core/ops/op_table.h"
#include "core/options/option_words.h"
#include "core/text/parse.h"
#include "tests/core/job/graph_jobs.h"
#include "tests/core/job/without_stamp.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void ExpectAllInIntegers(const GraphDone& done) {
  EXPECT_THAT(done.report["float_nodes"], IsEmpty()) << done.report["float_nodes"];
  EXPECT_THAT(done.report["profile"]["missing_values"], IsEmpty());
  EXPECT_THAT(done.report["profile"]["unmatched_entries"], IsEmpty());
}

constexpr std::string_view kGemm = R"(graph(%x: tensor<4x3xf32>) -> (%y) {
  const %w = random(1) : tensor<3x2xf32>
  const %b = [0.5, -0.25] : tensor<2xf32>
  %y = Gemm(%x, %w, %b) : tensor<4x2xf32>
}
)";
constexpr std::string_view kProduct = R"(graph(%x: tensor<4x3xf32>) -> (%y) {
  const %w = random(1) : tensor<3x2xf32>
  const %b = [0.5, -0.25] : tensor<2xf32>
  %c3 = MatMul(%x, %w) : tensor<4x2xf32>
  %y = Add(%c3, %b) : tensor<4x2xf32>
}
)";

TEST(Targets, FloatNodeOnAFullyQuantizedTargetIsNamed) {
  constexpr std::string_view net = R"(graph(%x: tensor<4xf32>) -> (%y) {
  %s = Softmax(%x) {axis=0} : tensor<4xf32>
  %y = Neg(%s) : tensor<4xf32>
}
)";
  const auto outcome = job::Run(JobOf(net, "x:-1:1 s:0:1 y:-1:0", Like("pow2-npu")), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUnimplemented);
  EXPECT_EQ(outcome.error().reason, "FLOAT_NODE");
  EXPECT_EQ(outcome.error().node, "s");
  EXPECT_EQ(outcome.error().message,
            "Softmax 's' stays float, but target t is fully quantized: target t has no "
            "integer form of Softmax (and 1 more)");
}

TEST(Targets, FullyQuantizedWithIntegerInterfaceHasNoFloatsAtAll) {
  const GraphDone done = RunGraphJob(JobOf(kGemm, "x:-1:1 y:-2:2", Like("pow2-npu")));
  ExpectAllInIntegers(done);
  EXPECT_EQ(done.text.find("Quantize"), std::string::npos) << done.text;
  EXPECT_EQ(done.text.find("f32"), std::string::npos) << done.text;
}

TEST(Targets, SchemeThatATargetCannotRunIsRefused) {
  Request request = JobOf(kGemm, "x:-1:1 y:-2:2", Like("pow2-npu"));
  request.options.schema = target::SchemeKind::kAsymmetric;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUsage);
  EXPECT_THAT(outcome.error().message, HasSubstr("must be pow2 for target t"));
}

TEST(Targets, ModelWithATargetsOwnOpIsDoneWithoutFigures) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x3xf32>) -> (%y) {
  const %w = random(1) : tensor<3x2xf32>
  %c = Gemm(%x, %w) : tensor<1x2xf32>
  %y = npu.MaxSplat(%c) {splat=0.5} : tensor<1x2xf32>
}
)";
  const GraphDone done =
      RunGraphJob(JobOf(net, "x:-1:1 c:-2:2 y:0.5:2", Like("cpu-int8", R"(, "ops": [
      {"name": "MaxSplat", "domain": "npu", "quant": "free", "attributes": {"splat": "float"}}])")));
  ExpectAllInIntegers(done);
  EXPECT_THAT(done.text, HasSubstr("npu.MaxSplat"));
  EXPECT_THAT(done.report["warnings"].dump(), HasSubstr("only target t knows what MaxSplat 'y'"));
  EXPECT_THAT(done.report["numerics"]["outputs"], IsEmpty());
}

// The same, with Rescales that other parameters would avoid, and with a single-channel value.
TEST(Targets, MergeThatIsDelayedGivesEqualBytesUnderEveryLimit) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x2x4x4xf32>) -> (%y) {
  const %w = random(1) : tensor<2x2x1x1xf32>
  const %v = random(2) : tensor<1x4x1x1xf32>
  const %b = [0.5] : tensor<1xf32>
  %c = Conv(%x, %w) : tensor<1x2x4x4xf32>
  %s = Sigmoid(%c) : tensor<1x2x4x4xf32>
  %m = MaxPool(%c) {kernel_shape=[1, 1]} : tensor<1x2x4x4xf32>
  %t = Concat(%m, %x) {axis=1} : tensor<1x4x4x4xf32>
  %d = Conv(%t, %v, %b) : tensor<1x1x4x4xf32>
  %y = Mul(%d, %s) : tensor<1x2x4x4xf32>
}
)";
  for (const auto& [value, choice] : WordsOf<NumericsLimit>()) {
    const std::string_view limit = choice.name;
    Request whole =
        JobOf(net, "x:-1:1 c:-4:4 s:0:1 m:-3:3 t:-3:3.2 d:-5:5 y:-6:6", Like("cpu-int8"));
    whole.options.emit = EmitForm::kQdq;
    whole.options.own_parameters = true;
    whole.options.numerics_limit = value;
    const auto once = job::Run(whole, {}, {});
    ASSERT_TRUE(once) << limit << ": " << once.error().message;
    Request part = whole;
    part.options.stop_before = "merge-constants";
    const auto stopped = job::Run(part, {}, {});
    ASSERT_TRUE(stopped) << limit << ": " << stopped.error().message;
    Request rest = whole;
    rest.profile.reset();
    rest.model = {"part.onnx", stopped->model.bytes};
    rest.options.no_quantize = true;
    const auto resumed = job::Run(rest, {}, {});
    ASSERT_TRUE(resumed) << limit << ": " << resumed.error().message;
    EXPECT_EQ(WithoutStamp(resumed->model.bytes), WithoutStamp(once->model.bytes)) << limit;
  }
}

// A job that stops before constants are rounded and is then resumed gives the bytes of a single
// run.
TEST(Targets, MergeThatIsDelayedGivesEqualBytes) {
  const std::string targets[] = {
      Like("cpu-int8"),
      Like("onnxruntime"),
      Like("tflite"),
      Like("glow-interpreter"),
      Like("glow-cpu"),
      Like("pow2-npu"),
      Like("pow2-npu", R"(, "integer_io": false, "bias_bits": 8)"),
      Like("cpu-int8", R"(, "weights": {"symmetric": false, "per_channel": false})"),
      Like("cpu-int8", R"(, "activations": ["i16"], "scales": "pow2")"),
  };
  constexpr std::string_view net = R"(graph(%x: tensor<2x3x4x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = [3, -0.25, 0, 1] : tensor<4xf32>
  const %v = random(2) : tensor<4x4x1x1xf32>
  const %a = random(3) : tensor<4x1x1xf32>
  %c = Conv(%x, %w, %b) : tensor<2x4x2x2xf32>
  %r = Relu(%c) : tensor<2x4x2x2xf32>
  %d = Conv(%r, %v, %b) : tensor<2x4x2x2xf32>
  %y = Add(%d, %a) : tensor<2x4x2x2xf32>
}
)";
  for (const std::string& target : targets) {
    Request whole = JobOf(net, "x:-1:1 c:-4:4 r:0:4 d:-5:5 y:-6:6", target);
    whole.options.emit = EmitForm::kQdq;
    const auto once = job::Run(whole, {}, {});
    ASSERT_TRUE(once) << target << ": " << once.error().message;
    Request part = whole;
    part.options.stop_before = "merge-constants";
    const auto stopped = job::Run(part, {}, {});
    ASSERT_TRUE(stopped) << target << ": " << stopped.error().message;
    EXPECT_NE(stopped->model.bytes.text(), once->model.bytes.text()) << target;
    Request rest = whole;
    rest.profile.reset();
    rest.model = {"part.onnx", stopped->model.bytes};
    rest.options.no_quantize = true;
    const auto resumed = job::Run(rest, {}, {});
    ASSERT_TRUE(resumed) << target << ": " << resumed.error().message;
    EXPECT_EQ(WithoutStamp(resumed->model.bytes), WithoutStamp(once->model.bytes)) << target;
  }
}

// Its outputs are rounded to integers.
Request IntegerJobOf(std::string_view model, const std::string& entries,
                     const std::string& target = {}) {
  Request request = JobOf(model, entries, target);
  request.options.output_type = OutputType::kInteger;
  return request;
}

TEST(Names, GemmThatIsLoweredIsQuantizedByItsOwnProfile) {
  const GraphDone done =
      RunGraphJob(IntegerJobOf(kGemm, "x:-1:1 y:-2:2", Like("cpu-int8", R"(, "lower": ["Gemm"])")));
  ExpectAllInIntegers(done);
  EXPECT_THAT(done.text, HasSubstr("MatMul"));
  EXPECT_EQ(done.text.find("Gemm"), std::string::npos) << done.text;
}

TEST(Names, GemmIsQuantizedByAProfileOfItsParts) {
  const std::string profile = "x:-1:1 c3:-2:2 y:-2:2";
  const GraphDone together = RunGraphJob(IntegerJobOf(kProduct, profile));
  ExpectAllInIntegers(together);
  EXPECT_THAT(together.text, HasSubstr("Gemm"));
  const GraphDone apart =
      RunGraphJob(IntegerJobOf(kProduct, profile, Like("cpu-int8", R"(, "keep": ["MatMul"])")));
  ExpectAllInIntegers(apart);
  EXPECT_THAT(apart.text, HasSubstr("MatMul"));
}

// Glow's case: FullyConnected(C1, C2, bias).  A profile of the lowered form names the product; a
// profile of the whole form cannot name it.
TEST(Names, GemmOfConstantsWithAnInputAsBiasIsQuantized) {
  constexpr std::string_view net = R"(graph(%bias: tensor<2x2xf32>) -> (%y) {
  const %c1 = random(1) : tensor<2x3xf32>
  const %c2 = random(2) : tensor<3x2xf32>
  %y = Gemm(%c1, %c2, %bias) : tensor<2x2xf32>
}
)";
  for (const std::string more : {"", R"(, "lower": ["Gemm"])"}) {
    ExpectAllInIntegers(RunGraphJob(IntegerJobOf(net, "bias:-1:1 y:-3:3", Like("cpu-int8", more))));
  }
  // The profile of the lowered form also fits the lowered graph.
  constexpr std::string_view lowered = R"(graph(%bias: tensor<2x2xf32>) -> (%y) {
  const %c1 = random(1) : tensor<2x3xf32>
  const %c2 = random(2) : tensor<3x2xf32>
  %c3 = MatMul(%c1, %c2) : tensor<2x2xf32>
  %y = Add(%c3, %bias) : tensor<2x2xf32>
}
)";
  ExpectAllInIntegers(RunGraphJob(IntegerJobOf(lowered, "bias:-1:1 y:-3:3 c3:-2:2")));
}

TEST(Names, WhatLoweringMakesHasARange) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x2x2x2xf32>) -> (%y) {
  const %scale = [1, 2] : tensor<2xf32>
  const %b = [0.5, -0.25] : tensor<2xf32>
  const %v = [1, 1] : tensor<2xf32>
  %r = Relu(%x) : tensor<1x2x2x2xf32>
  %n = BatchNormalization(%r, %scale, %b, %b, %v) : tensor<1x2x2x2xf32>
  %s = Sum(%x, %r, %n) : tensor<1x2x2x2xf32>
  %y = Mean(%s, %r, %n) : tensor<1x2x2x2xf32>
}
)";
  const GraphDone done = RunGraphJob(IntegerJobOf(net, "x:-1:1 r:0:1 n:-1:3 s:-2:4 y:-1:3"));
  ExpectAllInIntegers(done);
  EXPECT_EQ(done.text.find("Sum("), std::string::npos) << done.text;
}

TEST(Names, WeightsOfALoweredConvAreQuantizedRowByRow) {
  constexpr std::string_view net = R"(graph(%x: tensor<1x3x2x2xf32>) -> (%y) {
  const %w = [1, 0.5, 0.25, 0.1, 0.2, 0.3] : tensor<2x3x1x1xf32>
  const %b = [1, 2] : tensor<2xf32>
  %y = Conv(%x, %w, %b) : tensor<1x2x2x2xf32>
}
)";
  const GraphDone done =
      RunGraphJob(IntegerJobOf(net, "x:-1:1 y:-4:4", Like("cpu-int8", R"(, "lower": ["Conv"])")));
  ExpectAllInIntegers(done);
  EXPECT_THAT(done.text, HasSubstr("Gemm"));
  EXPECT_THAT(done.text, HasSubstr("tensor<2x3xi8, axis=0, scale=[0.007874016, 0.0023622047]"));
}

TEST(Names, WeightsBehindMovementAreQuantizedRowByRow) {
  constexpr std::string_view net = R"(graph(%x: tensor<4x3xf32>) -> (%y) {
  const %w = [1, 0.5, 0.25, 0.1, 0.2, 0.3] : tensor<2x3x1x1xf32>
  const %shape = [2, 3] : tensor<2xi64>
  %m = Reshape(%w, %shape) : tensor<2x3xf32>
  %t = Transpose(%m) {perm=[1, 0]} : tensor<3x2xf32>
  %y = Gemm(%x, %t) : tensor<4x2xf32>
}
)";
  const GraphDone done = RunGraphJob(IntegerJobOf(net, "x:-1:1 y:-4:4"));
  ExpectAllInIntegers(done);
  EXPECT_THAT(done.text, HasSubstr("tensor<3x2xi8, axis=1, scale=[0.007874016, 0.0023622047]"));
  EXPECT_EQ(done.text.find("Transpose"), std::string::npos);
}

TEST(Names, AProfileMayUseANameThatARewriteForwarded) {
  constexpr std::string_view net = R"(graph(%x: tensor<4x3xf32>) -> (%y) {
  const %w = random(1) : tensor<3x2xf32>
  const %shape = [4, 2] : tensor<2xi64>
  %g = Gemm(%x, %w) : tensor<4x2xf32>
  %i = Identity(%g) : tensor<4x2xf32>
  %r = Reshape(%i, %shape) : tensor<4x2xf32>
  %y = Neg(%r) : tensor<4x2xf32>
}
)";
  for (const std::string name : {"g", "i", "r"}) {
    ExpectAllInIntegers(RunGraphJob(IntegerJobOf(net, fmt::format("x:-1:1 {}:-2:2 y:-2:2", name))));
  }
}

TEST(Names, OneProfileServesEveryBatch) {
  onnx::ModelBuilder builder;
  builder.Input("x", {onnx::kOpen, 3, 4, 4})
      .Constant("w", ir::Tensor(ir::DType::kF32, {2, 3, 1, 1}));
  builder.Node("Conv", {"x", "w"}, {"c"}).Node("Shape", {"c"}, {"s"});
  builder.Constant("zero", ir::Tensor::Ints({0})).Constant("rest", ir::Tensor::Ints({-1}));
  builder.Node("Gather", {"s", "zero"}, {"n"}).Node("Concat", {"n", "rest"}, {"shape"});
  builder.Int("axis", 0)
      .Node("Reshape", {"c", "shape"}, {"r"})
      .Node("Relu", {"r"}, {"y"})
      .Output("y");
  std::map<std::string, std::optional<ir::Quant>> first;
  for (const int64_t batch : {1, 8}) {
    Request request = IntegerJobOf("", "x:-1:1 c:-2:2 r:-2:2 y:0:2");
    request.model = {"m.onnx", builder.Build()};
    request.options.batch = batch;
    const GraphDone done = RunGraphJob(request);
    ExpectAllInIntegers(done);
    const auto graph = text::Parse(done.text, {.find_op = &ops::FindOp});
    ASSERT_TRUE(graph) << graph.error().message;
    std::map<std::string, std::optional<ir::Quant>> quants;
    for (size_t i = 0; i < graph->value_bound(); ++i) {
      const ir::ValueId id{static_cast<int32_t>(i)};
      quants[graph->name(id)] = graph->type(id).quant;
    }
    EXPECT_EQ(graph->type(graph->inputs()[0]).shape[0], batch);
    if (first.empty()) first = quants;
    EXPECT_EQ(quants, first) << batch;
  }
}

TEST(Names, ProfileOfAnotherPreparationIsRefused) {
  Request request = JobOf(kGemm, "");
  request.profile = NamedBlob{"p.json", Blob(std::string(R"({"octavo_profile": 1, "preparation": 0,
      "values": [{"name": "x", "min": -1, "max": 1}]})"))};
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kInvalidArgument);
  EXPECT_EQ(outcome.error().field, "preparation");
  EXPECT_THAT(
      outcome.error().message,
      HasSubstr(
          "made by preparation 0, but this version uses preparation 1; profile the model again"));
}

}  // namespace
}  // namespace octavo::job

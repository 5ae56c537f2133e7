// SPDX-License-Identifier: Apache-2.0
// What a job exports as ONNX reads back: the imported graph computes the same bits in the target's
// mode as the graph that was exported.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/job/execute.h"
#include "core/job/job.h"
#include "core/target/target.h"
#include "core/text/print.h"
#include "tests/core/properties/random_graph.h"
#include "tests/support/sanitized.h"

namespace octavo::job {
namespace {

using nlohmann::json;

struct Net {
  std::string_view name = {}, text = {};
};

constexpr Net kNets[] = {
    {"image", R"(graph(%x: tensor<1x4x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x4x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  const %v = random(3) : tensor<4x4x1x1xf32>
  const %u = random(4) : tensor<4x2x2x2xf32>
  const %d = random(5) : tensor<4xf32>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %r = Relu(%c) : tensor<1x4x8x8xf32>
  %e = Conv(%x, %v) : tensor<1x4x8x8xf32>
  %s = Add(%r, %e) : tensor<1x4x8x8xf32>
  %p = MaxPool(%s) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
  %t = ConvTranspose(%p, %u, %d) {group=2, strides=[2, 2]} : tensor<1x4x8x8xf32>
  %o = Concat(%t, %r) {axis=1} : tensor<1x8x8x8xf32>
  %a = AveragePool(%o) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x8x4x4xf32>
  %y = GlobalAveragePool(%a) : tensor<1x8x1x1xf32>
})"},
    {"matrix", R"(graph(%x: tensor<4x8xf32>) -> (%y) {
  const %w = random(1) : tensor<8x6xf32>
  const %b = random(2) : tensor<1x6xf32>
  const %v = random(3) : tensor<6x5xf32>
  const %c = random(4) : tensor<4x1xf32>
  const %u = random(5) : tensor<5x3xf32>
  const %d = random(6) : tensor<4x3xf32>
  const %e = [0.25] : tensor<1xf32>
  %g = Gemm(%x, %w, %b) : tensor<4x6xf32>
  %h = Gemm(%g, %v, %c) : tensor<4x5xf32>
  %i = Gemm(%h, %u, %d) : tensor<4x3xf32>
  %j = Gemm(%h, %u, %e) : tensor<4x3xf32>
  %y = Add(%i, %j) : tensor<4x3xf32>
})"},
    {"curves", R"(graph(%x: tensor<2x8xf32>) -> (%y, %z) {
  const %w = random(1) : tensor<8x8xf32>
  const %g = [0.5, 1, 2, 1, 1, 0.5, 1, 1] : tensor<8xf32>
  const %b = [0.5, 0, 0, 1, -1, 0.5, 1, 0] : tensor<8xf32>
  %a = MatMul(%x, %w) : tensor<2x8xf32>
  %c = Gelu(%a) : tensor<2x8xf32>
  %d = HardSwish(%c) : tensor<2x8xf32>
  %e = LayerNormalization(%d, %g, %b) : tensor<2x8xf32>
  %f = Gelu(%e) {approximate="tanh"} : tensor<2x8xf32>
  %z = LayerNormalization(%f, %g) : tensor<2x8xf32>
  %y = Swish(%f) : tensor<2x8xf32>
})"},
};

Request For(std::string_view target, std::string_view model, EmitForm emit) {
  Request request;
  request.model = {"m.graph", Blob(std::string(model))};
  request.samples = {{"random:7:4", Blob(std::string())}};
  request.options.target = target;
  request.options.opset = 24;  // has every op: a float one written out may differ in its last bits
  request.options.emit = emit;
  request.options.threads = 1;
  return request;
}

Result<Outcome> RunJob(const Request& request) { return Run(request, {}, {}); }

constexpr uint64_t kRandomNets = test::kSanitized ? 3 : 40;

const std::string kError = "an error: ";

// The bytes of all outputs of the model in the mode, or the reason why there are none.
std::string OutputsOf(const NamedBlob& model, const numerics::Mode& mode) {
  const auto files = RunModel({.model = model,
                               .samples = {{"random:9:8", Blob(std::string())}},
                               .threads = 1,
                               .numerics = &mode},
                              /*all_values=*/false, {}, {});
  if (!files) return kError + files.error().message;
  std::string all;
  for (const NamedBlob& file : *files) all += std::string(file.bytes.text());
  return all;
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, AnExportRunsInTheTargetsModeWithTheSameBits) {
  const auto target = target::BuiltIn(GetParam());
  ASSERT_TRUE(target);
  for (const Net& net : kNets) {
    SCOPED_TRACE(net.name);
    const auto native = RunJob(For(GetParam(), net.text, EmitForm::kNative));
    // A target may lack an op of the model.
    if (!native && native.error().code == Code::kUnimplemented) continue;
    ASSERT_TRUE(native) << native.error().message;
    const std::string wanted = OutputsOf(native->model, *target->numerics);
    ASSERT_FALSE(wanted.starts_with(kError)) << wanted;
    for (const EmitForm emit : {EmitForm::kQdq, EmitForm::kQlinear}) {
      const auto exported = RunJob(For(GetParam(), net.text, emit));
      ASSERT_TRUE(exported) << exported.error().message;
      const std::string outputs = OutputsOf(exported->model, *target->numerics);
      EXPECT_FALSE(outputs.starts_with(kError)) << outputs;
      EXPECT_TRUE(outputs == wanted) << "other bits";
    }
  }
}

// How the export of a random net runs; empty: with the bits of the job's own result.  nullopt: the
// target has no result.
std::optional<std::string> RunsOtherwise(const std::string& target, const numerics::Mode& mode,
                                         uint64_t seed, EmitForm emit) {
  const std::string net =
      text::Print(test::RandomFloatGraph(seed), {.literal_elements = 4096, .old_names = false});
  const auto native = RunJob(For(target, net, EmitForm::kNative));
  if (!native) return std::nullopt;  // the target lacks an op
  const std::string wanted = OutputsOf(native->model, mode);
  if (wanted.starts_with(kError)) return std::nullopt;  // the mode does not define an op
  const auto exported = RunJob(For(target, net, emit));
  if (!exported) return kError + exported.error().message;
  const std::string outputs = OutputsOf(exported->model, mode);
  if (outputs.starts_with(kError)) return outputs;
  return outputs == wanted ? "" : "other bits";
}

TEST_P(RoundTrip, AnExportOfARandomNetRunsInTheTargetsMode) {
  const auto target = target::BuiltIn(GetParam());
  ASSERT_TRUE(target);
  const char* one_seed = std::getenv("OCTAVO_SEED");
  const uint64_t begin = one_seed ? std::strtoull(one_seed, nullptr, 10) : 0;
  const uint64_t end = one_seed ? begin + 1 : kRandomNets;
  int64_t compared = 0;
  for (uint64_t seed = begin; seed < end; ++seed) {
    for (const EmitForm emit : {EmitForm::kQdq, EmitForm::kQlinear}) {
      const auto how = RunsOtherwise(GetParam(), *target->numerics, seed, emit);
      compared += how.has_value();
      EXPECT_EQ(how.value_or(""), "") << "seed " << seed << ", form " << static_cast<int>(emit);
    }
  }
  fmt::print("{} exports compared\n", compared);
  EXPECT_GE(compared, one_seed ? 0 : static_cast<int64_t>(kRandomNets) / 2);
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundTrip, testing::ValuesIn(target::BuiltInNames()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

// Ops that an opset lacks, written out, are recognized again.
TEST(RoundTripOfOpsets, AnOpThatTheOpsetLacksIsWrittenOut) {
  const std::string_view curves = kNets[2].text;
  for (const bool quantize : {true, false}) {
    Request request = For("cpu-int8", curves, EmitForm::kNative);
    request.options.no_quantize = !quantize;
    const auto native = RunJob(request);
    ASSERT_TRUE(native) << native.error().message;
    const std::string wanted = OutputsOf(native->model, numerics::kOnnx);
    for (const int64_t opset : {13, 14, 17, 20, 24}) {
      SCOPED_TRACE(fmt::format("opset {}, {}", opset, quantize ? "int8" : "float"));
      request.options.emit = EmitForm::kQdq;
      request.options.opset = opset;
      const auto exported = RunJob(request);
      ASSERT_TRUE(exported) << exported.error().message;
      if (quantize) {
        EXPECT_TRUE(OutputsOf(exported->model, numerics::kOnnx) == wanted);
      }
      Request again;
      again.model = exported->model;
      again.options.no_quantize = true;
      again.options.emit = EmitForm::kText;
      again.options.threads = 1;
      const auto text = RunJob(again);
      ASSERT_TRUE(text) << text.error().message;
      const json ops = json::parse(text->report_json)["model"]["ops_after"];
      EXPECT_EQ(ops["Gelu"], 2) << ops;
      EXPECT_EQ(ops["HardSwish"], 1) << ops;
      EXPECT_EQ(ops["LayerNormalization"], 2) << ops;
      EXPECT_EQ(ops["Swish"], 1) << ops;
    }
  }
}

TEST(RoundTripOfOpsets, AnOpsetWithoutTheOpsOfTheDecompositionIsNamed) {
  Request request = For("cpu-int8",
                        "graph(%x: tensor<4xf32>) -> (%y) {\n"
                        "  %y = Gelu(%x) : tensor<4xf32>\n}\n",
                        EmitForm::kQdq);
  request.options.no_quantize = true;
  request.options.opset = 8;  // Erf came with 9
  const auto exported = RunJob(request);
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, Code::kUnimplemented);
  EXPECT_EQ(exported.error().message, "Gelu 'y' cannot be written at opset 8; it needs 9");
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Graph outputs of integer operators are not rounded: in the exported model, in the report, and
// when that model is read again.
#include <gtest/gtest.h>

#include "core/onnx/wire/onnx.pb.h"
#include "tests/core/job/graph_jobs.h"

namespace octavo::job {
namespace {

// Outputs of a product, behind movement, of an op without weights, and one that an integer op
// reads.
constexpr std::string_view kModel =
    R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y, %t, %p, %r) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  const %v = random(3) : tensor<5x4x1x1xf32>
  const %v1 = random(5) : tensor<5x4x1x1xf32>
  const %v2 = random(6) : tensor<5x4x1x1xf32>
  const %u = random(4) : tensor<80x6xf32>
  const %shape = [1, 80] : tensor<2xi64>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1], strides=[2, 2]} : tensor<1x4x4x4xf32>
  %r = Relu(%c) : tensor<1x4x4x4xf32>
  %y = Conv(%r, %v) : tensor<1x5x4x4xf32>
  %d = Conv@"head"(%r, %v1) : tensor<1x5x4x4xf32>
  %t = Transpose(%d) {perm=[0, 2, 3, 1]} : tensor<1x4x4x5xf32>
  %e = Conv@"inner"(%r, %v2) : tensor<1x5x4x4xf32>
  %f = Reshape(%e, %shape) : tensor<1x80xf32>
  %g = MatMul(%f, %u) : tensor<1x6xf32>
  %p = Softmax(%g) : tensor<1x6xf32>
}
)";
constexpr std::string_view kProfile =
    "x:-1:1 c:-3:3 r:0:3 y:-4:4 d:-4:4 t:-4:4 e:-4:4 f:-4:4 g:-9:9 p:0:1";

Request JobOn(EmitForm emit) {
  Request request = JobOf(kModel, std::string(kProfile));
  request.options.emit = emit;
  request.options.output_type = OutputType::kFloat;
  return request;
}

onnx_wire::Model Parsed(std::string_view bytes) {
  onnx_wire::Model model;
  EXPECT_TRUE(model.ParseFromString(std::string(bytes)));
  return model;
}

// The operator that computes the tensor; "" if none does.
std::string OpOf(const onnx_wire::Model& model, std::string_view tensor) {
  for (const auto& node : model.graph().node()) {
    for (const std::string& output : node.output()) {
      if (output == tensor) return node.op_type();
    }
  }
  return {};
}

TEST(FloatOutputs, TheModelHasNoQuantizeLinearBeforeThem) {
  for (const EmitForm emit : {EmitForm::kQdq, EmitForm::kQlinear}) {
    const onnx_wire::Model model = Parsed(RunGraphJob(JobOn(emit)).text);
    EXPECT_EQ(OpOf(model, "y"), "Conv");
    EXPECT_EQ(OpOf(model, "t"), "Transpose");
    EXPECT_EQ(OpOf(model, "d"), "Conv");
    EXPECT_EQ(OpOf(model, "p"), "Softmax");
    EXPECT_EQ(OpOf(model, "r"), "DequantizeLinear");
  }
}

TEST(FloatOutputs, OnRequestEachIsDequantized) {
  Request request = JobOn(EmitForm::kQdq);
  request.options.output_type = OutputType::kInteger;
  const onnx_wire::Model model = Parsed(RunGraphJob(request).text);
  for (const std::string_view output : {"y", "t", "p", "r"}) {
    EXPECT_EQ(OpOf(model, output), "DequantizeLinear") << output;
  }
}

TEST(FloatOutputs, AJobOnItsOwnResultChangesNoByte) {
  for (const EmitForm emit : {EmitForm::kQdq, EmitForm::kNative}) {
    const std::string first = RunGraphJob(JobOn(emit)).text;
    Request again = JobOn(emit);
    const std::string_view name = emit == EmitForm::kQdq ? "m.onnx" : "m.octavo";
    again.model = {std::string(name), Blob(std::string(first))};
    again.profile.reset();
    again.options.no_quantize = true;
    EXPECT_TRUE(RunGraphJob(again).text == first) << name;
  }
}

// The graph as text after a job in one piece, and after one that went on from an exported model.
TEST(FloatOutputs, AResumedJobGivesTheSameGraph) {
  const std::string whole = RunGraphJob(JobOn(EmitForm::kText)).text;
  for (const std::string pass : {"move-quantize", "specialize-bias", "merge-constants"}) {
    Request begin = JobOn(EmitForm::kQdq);
    begin.options.stop_before = pass;
    Request rest = JobOn(EmitForm::kText);
    rest.model = {"m.onnx", Blob(RunGraphJob(begin).text)};
    rest.profile.reset();
    rest.options.no_quantize = true;
    const std::string resumed = RunGraphJob(rest).text;
    // Names of constants differ; what computes the outputs does not.
    for (const std::string_view line :
         {"%y = Conv(", "Conv@\"head\"(", "%t = Transpose(%d)", "%p = Softmax("}) {
      const auto tail = [&](const std::string& text) {
        const size_t at = text.find(line);
        if (at == std::string::npos) return std::string("none");
        return text.substr(text.find(" : ", at), text.find('\n', at) - text.find(" : ", at));
      };
      EXPECT_EQ(tail(resumed), tail(whole)) << pass << " " << line;
      EXPECT_TRUE(tail(whole).ends_with("xf32>")) << tail(whole);
    }
  }
}

TEST(FloatOutputs, TheReportListsTheFloatOpButNoProduct) {
  const json report = RunGraphJob(JobOn(EmitForm::kQdq)).report;
  std::vector<std::string> nodes;
  for (const json& node : report["float_nodes"]) nodes.push_back(node["node"]);
  EXPECT_EQ(nodes, (std::vector<std::string>{"t", "p"}));
  std::map<std::string, std::string> chosen;
  for (const json& entry : report["ledger"]) {
    if (entry["rule"] == "quantize/float-output") chosen[entry["node"]] = entry["effect"];
  }
  const std::string effect = "fewer-roundings";
  EXPECT_EQ(chosen, (std::map<std::string, std::string>{
                        {"y", effect}, {"head", effect}, {"t", effect}, {"p", effect}}));
}

std::vector<std::string> WarningsOf(const Request& request) {
  std::vector<std::string> messages;
  const json report = RunGraphJob(request).report;
  for (const json& warning : report["warnings"]) {
    if (warning["code"] == "integer_outputs") messages.push_back(warning["message"]);
  }
  return messages;
}

TEST(FloatOutputs, WhoAsksForThemIsToldWhyNot) {
  Request request = JobOn(EmitForm::kText);
  request.options.output_type.reset();
  EXPECT_TRUE(WarningsOf(request).empty());
  request.options.output_type = OutputType::kFloat;
  EXPECT_EQ(
      WarningsOf(request),
      std::vector<std::string>{"--float-outputs: integer operators read what 'r' is made of"});
  request.options.integer_io = true;
  EXPECT_EQ(WarningsOf(request),
            std::vector<std::string>{"--float-outputs: graph outputs are integers (--integer-io)"});
  request.options.integer_io = false;
  request.target = NamedBlob{"t.json", Blob(Like("cpu-int8", R"(, "fully_quantized": true)"))};
  EXPECT_EQ(WarningsOf(request),
            std::vector<std::string>{"--float-outputs: target t has no float ops"});
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Jobs on models with nodes that Octavo does not support.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "core/job/job.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

ir::Tensor Drawn(const ir::Shape& shape, uint32_t seed) {
  ir::Tensor tensor(ir::DType::kF32, shape);
  auto* at = reinterpret_cast<float*>(tensor.mutable_raw());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    at[i] = static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1.0f;
  }
  return tensor;
}

NamedBlob Array(const std::string& name, const ir::Tensor& tensor) {
  return {name, Blob(data::WriteNpy(tensor))};
}

// Conv, a node of another domain, Conv.
Blob Custom(int64_t opset = 17) {
  onnx::ModelBuilder builder(opset);
  builder.Input("x", {1, 2, 6, 6}).Constant("w", Drawn({3, 2, 3, 3}, 1));
  builder.Constant("v", Drawn({2, 3, 3, 3}, 2));
  builder.Node("Conv", {"x", "w"}, {"f"}, "first");
  builder.Node("Gate", {"f"}, {"g"}, "gate").Domain("com.example");
  builder.Node("Conv", {"g", "v"}, {"y"}, "last").Output("y");
  return builder.Build();
}

// A branch that reads `f` and `v` of the graph around it.
Blob Branch() {
  onnx::ModelBuilder side(17), builder(17);
  side.Node("Mul", {"f", "v"}, {"z"}).Output("z");
  builder.Input("x", {1, 2, 6, 6}).Constant("w", Drawn({3, 2, 3, 3}, 1));
  builder.Constant("v", Drawn({3, 1, 1}, 2)).Constant("zero", ir::Tensor::Scalar(0.0f));
  builder.Node("Conv", {"x", "w"}, {"f"}, "first").Node("ReduceMean", {"x"}, {"m"});
  builder.Int("keepdims", 0).Node("Greater", {"m", "zero"}, {"c"});
  builder.Node("If", {"c"}, {"y"}, "choice").Graph("then_branch", side).Graph("else_branch", side);
  builder.Output("y");
  return builder.Build();
}

Request RequestFor(const Blob& model) {
  Request request{.model = {"m.onnx", model}};
  request.samples = {Array("x.npy", Drawn({16, 2, 6, 6}, 3))};
  request.options.deterministic = true;
  request.options.output_type = OutputType::kInteger;
  request.options.threads = 1;
  return request;
}

std::vector<std::string> Names(const json& rows, const char* key) {
  std::vector<std::string> names;
  for (const json& row : rows) names.push_back(row[key]);
  return names;
}

std::map<std::string, std::string> Reasons(const json& report) {
  std::map<std::string, std::string> reasons;
  for (const json& row : report["float_nodes"]) reasons[row["node"]] = row["reason"];
  return reasons;
}

onnx_wire::Model ModelOf(const Outcome& outcome) {
  onnx_wire::Model model;
  EXPECT_TRUE(model.ParseFromString(std::string(outcome.model.bytes.text())));
  return model;
}

int Count(const onnx_wire::Model& model, const std::string& op) {
  int count = 0;
  for (const auto& node : model.graph().node()) count += node.op_type() == op ? 1 : 0;
  return count;
}

TEST(OpaqueNodes, StayFloatAndWhatPrecedesIsQuantized) {
  const auto outcome = job::Run(RequestFor(Custom()), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const onnx_wire::Model model = ModelOf(*outcome);
  EXPECT_EQ(Count(model, "Gate"), 1);
  EXPECT_EQ(Count(model, "Conv"), 2);
  EXPECT_EQ(Count(model, "QuantizeLinear"), 2);
  ASSERT_EQ(model.graph().input_size(), 1);
  ASSERT_EQ(model.graph().output_size(), 1);
  EXPECT_EQ(model.graph().output(0).name(), "y");
  const json report = json::parse(outcome->report_json);
  EXPECT_THAT(Names(report["numerics"]["outputs"], "name"), ElementsAre("f"));
  const auto reasons = Reasons(report);
  EXPECT_THAT(reasons.at("gate"), HasSubstr("com.example"));
  EXPECT_THAT(reasons.at("last"), HasSubstr("follows 'gate'"));
  const std::vector<std::string> given = Names(report["warnings"], "code");
  EXPECT_EQ(std::ranges::count(given, "unsupported_op"), 1);
  EXPECT_EQ(std::ranges::count(given, "not_calibrated"), 1);
}

TEST(OpaqueNodes, WhatFollowsIsCalibratedByValues) {
  Request request = RequestFor(Custom());
  request.samples.push_back(Array("values:g.npy", Drawn({16, 3, 4, 4}, 4)));
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const onnx_wire::Model model = ModelOf(*outcome);
  EXPECT_EQ(Count(model, "Gate"), 1);
  EXPECT_EQ(Count(model, "QuantizeLinear"), 4);
  EXPECT_EQ(model.graph().input_size(), 1);
  const json report = json::parse(outcome->report_json);
  EXPECT_THAT(Names(report["numerics"]["outputs"], "name"),
              testing::UnorderedElementsAre("f", "y"));
  EXPECT_FALSE(Reasons(report).contains("last"));
  request.samples.back() = Array("values:g.npy", Drawn({15, 3, 4, 4}, 4));
  const auto fewer = job::Run(request, {}, {});
  ASSERT_FALSE(fewer);
  EXPECT_EQ(fewer.error().code, Code::kInvalidArgument);
  EXPECT_THAT(fewer.error().message, HasSubstr("'g'"));
}

TEST(OpaqueNodes, AJobOnItsOwnResultChangesNoByte) {
  for (const Blob& model : {Custom(), Branch()}) {
    for (const bool values : {false, true}) {
      Request request = RequestFor(model);
      if (values) request.samples.push_back(Array("values:g.npy", Drawn({16, 3, 4, 4}, 4)));
      const auto first = job::Run(request, {}, {});
      ASSERT_TRUE(first) << first.error().message;
      request.model.bytes = first->model.bytes;
      const auto second = job::Run(request, {}, {});
      ASSERT_TRUE(second) << second.error().message;
      EXPECT_TRUE(first->model.bytes.text() == second->model.bytes.text());
    }
  }
}

TEST(OpaqueNodes, ControlFlowKeepsWhatItsBodiesCapture) {
  const auto outcome = job::Run(RequestFor(Branch()), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const onnx_wire::Model model = ModelOf(*outcome);
  EXPECT_EQ(Count(model, "If"), 1);
  EXPECT_GE(Count(model, "QuantizeLinear"), 2);
  std::set<std::string> names;
  for (const auto& tensor : model.graph().initializer()) names.insert(tensor.name());
  for (const auto& node : model.graph().node()) {
    names.insert(node.output().begin(), node.output().end());
  }
  EXPECT_TRUE(names.contains("f") && names.contains("v"));
}

TEST(OpaqueNodes, StrictOpsRestoresTheError) {
  for (const Blob& model : {Custom(), Branch()}) {
    Request request = RequestFor(model);
    request.options.strict_ops = true;
    const auto outcome = job::Run(request, {}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::kUnimplemented);
    EXPECT_FALSE(outcome.error().node.empty());
  }
}

TEST(OpaqueNodes, GatesJudgeWhatCanBeCompared) {
  Request request = RequestFor(Custom());
  request.options.require_sqnr = 20;
  const auto passed = job::Run(request, {}, {});
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_FALSE(passed->gate_failed);
  onnx::ModelBuilder nothing(17);
  nothing.Input("x", {1, 2, 6, 6}).Node("Gate", {"x"}, {"g"}, "gate").Domain("com.example");
  nothing.Node("Relu", {"g"}, {"y"}).Output("y");
  request.model.bytes = nothing.Build();
  const auto refused = job::Run(request, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUsage);
  request.options.require_sqnr = 0;
  const auto unchanged = job::Run(request, {}, {});
  ASSERT_TRUE(unchanged) << unchanged.error().message;
  EXPECT_EQ(ModelOf(*unchanged).graph().node_size(), 2);
}

TEST(OpaqueNodes, OtherFormsCannotHoldThem) {
  for (const EmitForm form : {EmitForm::kNative, EmitForm::kText}) {
    Request request = RequestFor(Custom());
    request.options.emit = form;
    const auto outcome = job::Run(request, {}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::kUnimplemented);
    EXPECT_EQ(outcome.error().node, "gate");
  }
}

TEST(OpaqueNodes, TheCertificateOfAJobIsVerified) {
  Request request = RequestFor(Branch());
  request.options.rounding = Rounding::kNearest;  // what samples choose cannot be proved
  request.certificate = true;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto verified = VerifyJob({.before = request.model,
                                   .after = {"o.onnx", outcome->model.bytes},
                                   .certificate = {"c", Blob(outcome->certificate)}});
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_TRUE(verified->proved) << verified->text;
}

TEST(OpaqueNodes, InspectListsThemAndOpenDimensions) {
  onnx::ModelBuilder builder(17);
  builder.Input("x", {onnx::kOpen, 2, 6, 6}, onnx_wire::Tensor::FLOAT, "batch");
  builder.Node("Odd", {"x"}, {"a"}, "one").Domain("d").Node("Odd", {"x"}, {"b"}, "two").Domain("d");
  builder.Output("a").Output("b");
  const auto answer = InspectModel({.model = {"m.onnx", builder.Build()}});
  ASSERT_TRUE(answer) << answer.error().message;
  const json found = json::parse(*answer);
  EXPECT_THAT(Names(found["opaque"], "node"), ElementsAre("one", "two"));
  EXPECT_EQ(found["inputs"][0]["shape"], json::parse(R"(["batch", 2, 6, 6])"));
  EXPECT_THAT(Names(found["outputs"], "name"), ElementsAre("a", "b"));
}

TEST(OpaqueNodes, InspectTellsThemFromNodesThatFollowThem) {
  onnx::ModelBuilder builder(17);
  builder.Input("x", {1, 2, 6, 6}, onnx_wire::Tensor::FLOAT);
  builder.Node("Odd", {"x"}, {"a"}, "one").Domain("d").Node("Relu", {"a"}, {"b"}, "two");
  builder.Output("b");
  const auto answer = InspectModel({.model = {"m.onnx", builder.Build()}});
  ASSERT_TRUE(answer) << answer.error().message;
  const json found = json::parse(*answer);
  EXPECT_THAT(Names(found["opaque"], "node"), ElementsAre("one"));
  EXPECT_THAT(Names(found["not_calibrated"], "node"), ElementsAre("two"));
}

TEST(OpaqueNodes, RunComputesWhatItCan) {
  ModelInput input{.model = {"m.onnx", Custom()}, .threads = 1};
  input.samples = {Array("x.npy", Drawn({2, 2, 6, 6}, 3))};
  const auto none = RunModel(input, /*all_values=*/false, {}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnimplemented);
  EXPECT_EQ(none.error().node, "gate");
  std::vector<ir::Warning> warnings;
  const auto all = RunModel(input, /*all_values=*/true, {}, {}, &warnings);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_GE(warnings.size(), 2u);
}

}  // namespace
}  // namespace octavo::job

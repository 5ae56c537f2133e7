// SPDX-License-Identifier: Apache-2.0
// Optimizes the trained models for every built-in target.  The resulting graphs, and the exported
// models after another import, must meet all requirements of the target; the target's numerics mode
// must run them.  One sample gives the ranges.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/onnx/export/export.h"
#include "core/passes/quantize/quantize_plan.h"
#include "core/profile/collect.h"
#include "core/runtime/plan.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using passes::Phase;
using target::Target;

struct Model {
  Graph graph = {};
  profile::Profile profile = {};
};

NamedBlob FileAt(const std::filesystem::path& path) {
  auto bytes = Blob::MapFile(path.string());
  if (bytes) return {path.filename().string(), *std::move(bytes)};
  ADD_FAILURE() << bytes.error().message;
  return {};
}

std::optional<Model> Prepared(const std::filesystem::path& folder) {
  const NamedBlob file = FileAt(folder / "model.onnx");
  const std::vector<NamedBlob> samples = {FileAt(folder / "samples.npz")};
  auto loaded = Load({.model = file, .external_data = {}, .samples = samples});
  if (!loaded) {
    ADD_FAILURE() << loaded.error().message;
    return std::nullopt;
  }
  Model model{.graph = std::move(loaded->model.graph)};
  ThreadPool pool(2);
  const Status prepared = PrepareFloat(model.graph, pool, {});
  EXPECT_TRUE(prepared) << prepared.error().message;
  loaded->samples.batches = {loaded->samples.batches.Read(0, {}).value()};
  auto profile = profile::Collect(model.graph, loaded->samples.batches, {}, pool, {});
  if (!profile) {
    ADD_FAILURE() << profile.error().message;
    return std::nullopt;
  }
  model.profile = *std::move(profile);
  return model;
}

bool IsPowerOfTwo(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5f;
}

void CheckWeight(const Graph& graph, const Node& node, const Type& type, const Target& target) {
  const target::WeightRule& rule = target.weights;
  EXPECT_EQ(type.dtype, rule.dtype) << node.name;
  EXPECT_TRUE(target.PerChannel(node.op->name) || type.quant->per_tensor()) << node.name;
  if (!rule.symmetric) return;
  for (const int32_t zero : type.quant->zero_points) EXPECT_EQ(zero, 0) << node.name;
  const ValueId weight = node.inputs[1];
  if (!rule.narrow_range || !graph.IsConstant(weight)) return;
  for (const int64_t code : graph.value(weight).constant->tensor.ToInts()) {
    ASSERT_GE(code, -127) << node.name;
  }
}

void CheckBias(const Graph& graph, const Node& node, size_t input, const Target& target) {
  const Type& x = graph.type(node.inputs[0]);
  const Type& w = graph.type(node.inputs[1]);
  const Type& b = graph.type(node.inputs[input]);
  ASSERT_TRUE(b.quantized()) << node.name;
  for (size_t c = 0; c < b.quant->scales.size(); ++c) {
    ASSERT_EQ(b.quant->scales[c], x.quant->scale() * w.quant->scale(static_cast<int64_t>(c)))
        << node.name << " channel " << c;
    ASSERT_EQ(b.quant->zero_points[c], 0) << node.name;
  }
  const int64_t most = (int64_t{1} << (target.bias_bits - 1)) - 1;
  for (const int64_t code : graph.value(node.inputs[input]).constant->tensor.ToInts()) {
    ASSERT_LE(std::abs(code), most) << node.name;
  }
}

void CheckResult(const Graph& graph, const Node& node, const Target& target) {
  const Type& type = graph.type(node.result());
  if (!type.quantized() || node.op->domain == "octavo") return;
  if (const target::FixedResult* fixed = target.ResultOf(node.op->name)) {
    EXPECT_EQ(*type.quant, ir::Quant::PerTensor(fixed->scale, fixed->zero_point)) << node.name;
  }
  if (!target.WantsOneType(node.op->name)) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!passes::IsRealOperand(graph, node, i)) continue;
    EXPECT_EQ(graph.type(node.inputs[i]).quant, type.quant) << node.name;
  }
}

void CheckValues(const Graph& graph, const Target& target) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ValueId{static_cast<int32_t>(i)});
    if (value.erased || !value.type.quantized()) continue;
    for (const float scale : value.type.quant->scales) {
      ASSERT_TRUE(!target.pow2_scales || IsPowerOfTwo(scale)) << value.name << " " << scale;
    }
    if (value.constant) continue;
    EXPECT_NE(std::ranges::find(target.activations, value.type.dtype), target.activations.end())
        << value.name;
  }
}

void CheckDemands(const Graph& graph, const Target& target) {
  CheckValues(graph, target);
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    EXPECT_FALSE(target.fully_quantized && passes::IsFloatNode(graph, node)) << node.name;
    CheckResult(graph, node, target);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || !graph.type(node.inputs[i]).quantized()) continue;
      const ir::Role role = node.op->RoleOf(i);
      if (role == ir::Role::kWeight && graph.IsConstant(node.inputs[i])) {
        CheckWeight(graph, node, graph.type(node.inputs[i]), target);
      }
      if (role == ir::Role::kBias) CheckBias(graph, node, i, target);
    }
  }
}

void CheckTarget(const Model& model, const std::string& name) {
  SCOPED_TRACE(name);
  ThreadPool pool(2);
  passes::Settings settings{.pool = &pool};
  settings.target = *target::BuiltIn(name);
  settings.options.integer_io = settings.target.integer_io;
  settings.profile = &model.profile;
  passes::Findings findings;
  Graph graph = model.graph;
  const auto records = passes::RunPipeline(
      passes::PassesOf({Phase::kLower, Phase::kQuantize, Phase::kOptimize, Phase::kFinish}), {},
      settings, graph, findings);
  if (!records) {
    // The only permitted failure: a node without an integer form on a fully quantized target.
    EXPECT_TRUE(settings.target.fully_quantized) << records.error().message;
    EXPECT_EQ(records.error().reason, "FLOAT_NODE") << records.error().message;
    return;
  }
  CheckDemands(graph, settings.target);
  const auto plan = runtime::Plan::Create(graph, {.numerics = settings.target.numerics}, pool);
  EXPECT_TRUE(plan) << plan.error().message;
  for (const onnx::Format format : {onnx::Format::kQdq, onnx::Format::kQLinear}) {
    const auto exported = onnx::ExportModel(graph, {.format = format});
    ASSERT_TRUE(exported) << exported.error().message;
    const NamedBlob file{"q.onnx", Blob(exported->model)};
    const auto again = Load({.model = file, .external_data = {}, .samples = {}});
    ASSERT_TRUE(again) << again.error().message;
    CheckDemands(again->model.graph, settings.target);
  }
}

class TargetModels : public ::testing::TestWithParam<std::string> {};

TEST_P(TargetModels, DemandsHold) {
  const std::filesystem::path folder =
      std::filesystem::path(OCTAVO_SHARED_DIR) / "models" / GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const std::optional<Model> model = Prepared(folder);
  ASSERT_TRUE(model);
  for (const std::string& name : target::BuiltInNames()) CheckTarget(*model, name);
}

INSTANTIATE_TEST_SUITE_P(Trained, TargetModels,
                         ::testing::Values("fastestdet", "magika_v3_3", "mnist_cnn_pytorch",
                                           "mnist_cntk", "squeezenet_products", "superres_224",
                                           "ultraface_rfb320"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace octavo::job

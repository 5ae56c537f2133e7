// SPDX-License-Identifier: Apache-2.0
// --keep-float and a target's `float_ops` hold for every operator, data movement included, on the
// trained models: after the job, and after another one on its result.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/ir/qdq_notes.h"
#include "core/job/job.h"
#include "core/job/load.h"
#include "core/onnx/wire/model_proto.h"
#include "tests/core/job/tiny_model.h"
#include "tests/support/sanitized.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;
using NameSet = std::set<std::string>;

Request JobOn(NamedBlob model, Names keep_float) {
  Request request{.model = std::move(model)};
  request.samples = {{"random:1:1", Blob(std::string())}};
  request.options.keep_float = std::move(keep_float);
  request.options.deterministic = true;
  request.options.threads = 1;
  return request;
}

// A quantized model and what its job reported.
struct Done {
  NamedBlob model = {};
  json report = {};
};

Done RunJob(const Request& request) {
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  EXPECT_TRUE(outcome->external.empty());
  return {std::move(outcome->model), json::parse(outcome->report_json)};
}

onnx_wire::Graph MessageOf(const NamedBlob& model) {
  auto proto = onnx::ParseModel(model.bytes);
  EXPECT_TRUE(proto) << proto.error().message;
  return proto ? proto->model.graph() : onnx_wire::Graph();
}

// The nodes with quantized operands in the graph that the exported model is read as.
NameSet IntegerNodes(const NamedBlob& model, const auto& wanted) {
  NameSet names;
  const auto loaded = Load({.model = model, .external_data = {}, .samples = {}});
  EXPECT_TRUE(loaded) << loaded.error().message;
  if (!loaded) return names;
  const ir::Graph& graph = loaded->model.graph;
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.op->domain == "octavo" || !wanted(node)) continue;
    for (const ir::ValueId input : node.inputs) {
      if (input && graph.type(input).quantized()) names.insert(node.name);
    }
  }
  return names;
}

// Whether a float node of the report has the name or the op, or a warning says what became of it.
bool IsAccountedFor(const json& report, const std::string& name) {
  for (const json& node : report["float_nodes"]) {
    if (node["node"] == name || node["op"] == name) return true;
  }
  for (const json& warning : report["warnings"]) {
    const std::string code = warning["code"], message = warning["message"];
    const bool ours = code == "keep_float_fused" || code == "keep_float_no_effect";
    if (ours && message.find(fmt::format("'{}'", name)) != std::string::npos) return true;
  }
  return false;
}

NameSet ValuesOf(const onnx_wire::Graph& graph) {
  NameSet names;
  for (const onnx_wire::Node& node : graph.node()) {
    names.insert(node.output().begin(), node.output().end());
  }
  for (const onnx_wire::Tensor& constant : graph.initializer()) names.insert(constant.name());
  return names;
}

// The names of the original that the job without the option keeps and this one does not.
Names Lost(const onnx_wire::Graph& original, const NamedBlob& usual, const NamedBlob& kept) {
  const NameSet before = ValuesOf(MessageOf(usual)), after = ValuesOf(MessageOf(kept));
  Names lost;
  for (const std::string& name : ValuesOf(original)) {
    if (before.contains(name) && !after.contains(name)) lost.push_back(name);
  }
  return lost;
}

class KeepFloat : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path =
        std::filesystem::path(OCTAVO_SHARED_DIR) / "models" / GetParam() / "model.onnx";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
    auto bytes = Blob::MapFile(path.string());
    ASSERT_TRUE(bytes) << bytes.error().message;
    model_ = {"model.onnx", *std::move(bytes)};
    graph_ = MessageOf(model_);
    for (const onnx_wire::Node& node : graph_.node()) ops_.insert(node.op_type());
  }

  // The job's own result, read by a job without the option, changes in no byte.
  static void ExpectUnchangedByASecondJob(const NamedBlob& result, const std::string& name) {
    Request again = JobOn(result, {});
    again.samples.clear();
    again.options.no_quantize = true;
    EXPECT_TRUE(RunJob(again).model.bytes.text() == result.bytes.text()) << name;
  }

  // The names in the lists of as many jobs as the model's size allows: each name by itself, or
  // every other one.
  std::vector<Names> Shared(const Names& names) const {
    constexpr size_t kSmall = 100'000;  // bytes
    std::vector<Names> lists(model_.bytes.size() < kSmall ? names.size() : 2);
    for (size_t i = 0; i < names.size(); ++i) lists[i % lists.size()].push_back(names[i]);
    return lists;
  }

  NamedBlob model_ = {};
  onnx_wire::Graph graph_ = {};
  NameSet ops_ = {};
};

TEST_P(KeepFloat, NoOpOfANamedTypeHasAnIntegerOperand) {
  const Done usual = RunJob(JobOn(model_, {}));
  for (const Names& ops : Shared(Names(ops_.begin(), ops_.end()))) {
    const Done kept = RunJob(JobOn(model_, ops));
    const auto named = [&](const ir::Node& node) {
      return std::ranges::find(ops, node.op->name) != ops.end();
    };
    EXPECT_EQ(IntegerNodes(kept.model, named), NameSet());
    for (const std::string& op : ops) {
      EXPECT_TRUE(IsAccountedFor(kept.report, op)) << op << kept.report["warnings"];
    }
    EXPECT_EQ(Lost(graph_, usual.model, kept.model), Names()) << ops.front();
    ExpectUnchangedByASecondJob(kept.model, ops.front());
  }
}

TEST_P(KeepFloat, NoProducerOfANamedValueHasAnIntegerOperand) {
  std::map<std::string, std::string> nodes;  // the first of each op, by its value
  NameSet seen;
  Names values;
  for (const onnx_wire::Node& node : graph_.node()) {
    if (!seen.insert(node.op_type()).second) continue;
    values.push_back(node.output(0));
    nodes[node.output(0)] = node.name().empty() ? node.output(0) : node.name();
  }
  for (const Names& some : Shared(values)) {
    const Done kept = RunJob(JobOn(model_, some));
    NameSet of_report;
    for (const json& entry : kept.report["float_nodes"]) of_report.insert(entry["node"]);
    for (const std::string& value : some) {
      const std::string& name = nodes[value];
      const auto named = [&](const ir::Node& node) { return node.name == name; };
      EXPECT_EQ(IntegerNodes(kept.model, named), NameSet()) << value;
      EXPECT_TRUE(of_report.contains(name) || IsAccountedFor(kept.report, value))
          << value << kept.report["warnings"];
    }
  }
}

TEST_P(KeepFloat, NoOpOfATargetsFloatOpsHasAnIntegerOperand) {
  Request request = JobOn(model_, {});
  request.target = NamedBlob{
      "t.json", Blob(std::string(R"({"name": "t", "float_ops": ["Concat", "Flatten", "MaxPool",
                                     "Relu", "Reshape", "Slice", "Transpose"]})"))};
  const NameSet ops = {"Concat", "Flatten", "MaxPool", "Relu", "Reshape", "Slice", "Transpose"};
  const Done kept = RunJob(request);
  const auto named = [&](const ir::Node& node) { return ops.contains(std::string(node.op->name)); };
  EXPECT_EQ(IntegerNodes(kept.model, named), NameSet());
  ExpectUnchangedByASecondJob(kept.model, "float_ops");
}

std::vector<std::string> TrainedModels() {
  std::vector<std::string> names = {"mnist_cnn_pytorch", "mnist_cntk"};
  // The others take minutes in a build with a sanitizer.
  if (test::kSanitized) return names;
  for (const char* name :
       {"fastestdet", "magika_v3_3", "squeezenet_products", "superres_224", "ultraface_rfb320"}) {
    names.emplace_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Trained, KeepFloat, testing::ValuesIn(TrainedModels()),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------ what a name means

json WarningsOf(std::string_view graph, Names names) {
  return RunJob(JobOn({"net.graph", Blob(std::string(graph))}, std::move(names)))
      .report["warnings"];
}

bool Has(const json& warnings, std::string_view code, std::string_view text) {
  return std::ranges::any_of(warnings, [&](const json& warning) {
    return warning["code"] == code &&
           warning["message"].get<std::string>().find(text) != std::string::npos;
  });
}

TEST(KeepFloatNames, AListOnTheExportLeavesTheChoiceToNoLaterJob) {
  const Done kept = RunJob(JobOn({"net.graph", Blob(std::string(kTinyModel))}, {"MaxPool"}));
  const auto proto = onnx::ParseModel(kept.model.bytes);
  ASSERT_TRUE(proto);
  std::string list;
  for (const onnx_wire::StringEntry& entry : proto->model.metadata_props()) {
    if (entry.key() == ir::kFloatOnRequestKey) list = entry.value();
  }
  EXPECT_EQ(list, R"(["y"])");
}

TEST(KeepFloatNames, AFusedNodeIsAWarning) {
  constexpr std::string_view kBatchNorm = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %s = [1, 2, 3, 4] : tensor<4xf32>
  const %m = [0, 1, 0, 1] : tensor<4xf32>
  %c = Conv(%x, %w) : tensor<1x4x6x6xf32>
  %b = BatchNormalization(%c, %s, %m, %m, %s) : tensor<1x4x6x6xf32>
  %y = Relu(%b) : tensor<1x4x6x6xf32>
}
)";
  EXPECT_TRUE(
      Has(WarningsOf(kBatchNorm, {"BatchNormalization"}), "keep_float_fused", "is now Conv"));
}

TEST(KeepFloatNames, WhatCannotBeQuantizedIsAWarning) {
  const std::string_view code = "keep_float_no_effect";
  EXPECT_TRUE(Has(WarningsOf(kTinyModel, {"Softmax"}), code, "has no operator of that name"));
  EXPECT_TRUE(Has(WarningsOf(kTinyModel, {"x"}), code, "no operator computes this value"));
  EXPECT_TRUE(Has(WarningsOf(kTinyModel, {"w"}), code, "no operator computes this value"));
}

TEST(KeepFloatNames, AnUnknownNameIsAWarning) {
  EXPECT_TRUE(Has(WarningsOf(kTinyModel, {"Cnv"}), "unknown_name", "'Cnv'"));
}

TEST(KeepFloatNames, ANameThatHoldsIsNoWarning) {
  for (const char* name : {"Conv", "c", "MaxPool", "y", "Relu", "r"}) {
    for (const json& warning : WarningsOf(kTinyModel, {name})) {
      EXPECT_NE(warning["code"], "keep_float_fused") << name << warning;
      EXPECT_NE(warning["code"], "keep_float_no_effect") << name << warning;
      EXPECT_NE(warning["code"], "unknown_name") << name << warning;
    }
  }
}

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// What readers of a model rely on survives a job: ModelProto is compared field by field before
// and after, on the trained models with documentation added.  The only differences are those that
// this file lists, each with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/sha256.h"
#include "core/base/version.h"
#include "core/ir/qdq_notes.h"
#include "core/job/job.h"
#include "core/onnx/import/import.h"
#include "core/onnx/wire/model_proto.h"
#include "core/onnx/wire/onnx.pb.h"
#include "tests/core/job/documented.h"
#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using onnx_wire::Model;

std::map<std::string, int64_t> OpsetsOf(const Model& model) {
  std::map<std::string, int64_t> opsets;
  for (const onnx_wire::OperatorSet& opset : model.opset_import()) {
    opsets[opset.domain()] = opset.version();
  }
  return opsets;
}

struct Done {
  Blob bytes = {};
  Model model = {};
  json report = {};
};

Done RunJob(const Blob& bytes, const std::function<void(Request&)>& change = {}) {
  Request request{.model = {"model.onnx", bytes}};
  request.samples = {{"random:1:1", Blob(std::string())}};
  request.options.deterministic = true;
  request.options.threads = 1;
  if (change) change(request);
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  Done done{.bytes = outcome->model.bytes, .report = json::parse(outcome->report_json)};
  EXPECT_TRUE(done.model.ParseFromString(std::string(done.bytes.text())));
  return done;
}

const json* WarningOf(const json& report, std::string_view code) {
  for (const json& warning : report["warnings"]) {
    if (warning["code"] == code) return &warning;
  }
  return nullptr;
}

class Contract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path =
        std::filesystem::path(OCTAVO_SHARED_DIR) / "models" / GetParam() / "model.onnx";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
    auto bytes = Blob::MapFile(path.string());
    ASSERT_TRUE(bytes) << bytes.error().message;
    before_ = Documented(*bytes);
    after_ = RunJob(Blob(before_.SerializeAsString()));
  }

  // Versions are raised only for what the quantized model needs, with a warning.
  void CompareVersions() {
    const Model& after = after_.model;
    std::map<std::string, int64_t> was = OpsetsOf(before_), is = OpsetsOf(after);
    const json* opset = WarningOf(after_.report, "opset_raised");
    EXPECT_EQ(opset != nullptr, is[""] > was[""]) << after_.report["warnings"];
    EXPECT_GE(is[""], was[""]);
    if (opset != nullptr) {
      EXPECT_FALSE((*opset)["node"].get<std::string>().empty());
      was[""] = is[""];
    }
    EXPECT_EQ(is, was);
    const json* ir = WarningOf(after_.report, "ir_version_raised");
    EXPECT_EQ(ir != nullptr, after.ir_version() > before_.ir_version())
        << after_.report["warnings"];
    EXPECT_GE(after.ir_version(), before_.ir_version());
  }

  void CompareModel() {
    const Model& after = after_.model;
    // The program that wrote the model is another one.
    EXPECT_EQ(after.producer_name(), "octavo");
    EXPECT_EQ(after.producer_version(), Version());
    EXPECT_EQ(after.domain(), before_.domain());
    EXPECT_EQ(after.model_version(), before_.model_version());
    EXPECT_EQ(after.doc_string(), before_.doc_string());
    // Octavo adds entries of its own.
    Entries entries = EntriesOf(after.metadata_props());
    std::erase_if(entries, [](const auto& entry) { return entry.first.starts_with("octavo."); });
    EXPECT_EQ(entries, EntriesOf(before_.metadata_props()));
    EXPECT_EQ(after.graph().name(), before_.graph().name());
    EXPECT_EQ(after.graph().doc_string(), before_.graph().doc_string());
    EXPECT_EQ(EntriesOf(after.graph().metadata_props()),
              EntriesOf(before_.graph().metadata_props()));
  }

  static void CompareInterface(const onnx_wire::ValueInfo& was, const onnx_wire::ValueInfo& is) {
    EXPECT_EQ(is.name(), was.name());
    EXPECT_EQ(is.doc_string(), was.doc_string());
    EXPECT_EQ(is.type().denotation(), was.type().denotation());
    const onnx_wire::TensorType &before = was.type().tensor_type(),
                                &after = is.type().tensor_type();
    EXPECT_EQ(after.elem_type(), before.elem_type()) << was.name();
    // An output may have been declared without a shape.
    if (before.shape().dim().empty()) return;
    ASSERT_EQ(after.shape().dim_size(), before.shape().dim_size()) << was.name();
    for (int i = 0; i < before.shape().dim_size(); ++i) {
      const onnx_wire::Dimension &declared = before.shape().dim(i), &now = after.shape().dim(i);
      EXPECT_EQ(now.denotation(), declared.denotation()) << was.name();
      EXPECT_EQ(now.dim_value(), declared.dim_value()) << was.name();
      EXPECT_EQ(now.dim_param(), declared.dim_param()) << was.name();
    }
  }

  // Initializers are no inputs (from IR version 4 on they need not be).
  void CompareInterfaces() {
    std::set<std::string> initializers;
    for (const onnx_wire::Tensor& tensor : before_.graph().initializer()) {
      initializers.insert(tensor.name());
    }
    std::vector<const onnx_wire::ValueInfo*> inputs;
    for (const onnx_wire::ValueInfo& input : before_.graph().input()) {
      if (!initializers.contains(input.name())) inputs.push_back(&input);
    }
    const onnx_wire::Graph& after = after_.model.graph();
    ASSERT_EQ(after.input_size(), static_cast<int>(inputs.size()));
    for (int i = 0; i < after.input_size(); ++i) {
      CompareInterface(*inputs[static_cast<size_t>(i)], after.input(i));
    }
    ASSERT_EQ(after.output_size(), before_.graph().output_size());
    for (int i = 0; i < after.output_size(); ++i) {
      CompareInterface(before_.graph().output(i), after.output(i));
    }
  }

  // A node that was fused or folded into another one has lost its notes with its name.
  void CompareNodes() {
    std::map<std::string, const onnx_wire::Node*> was;
    for (const onnx_wire::Node& node : before_.graph().node()) {
      was[node.name().empty() ? node.output(0) : node.name()] = &node;
    }
    int64_t kept = 0;
    for (const onnx_wire::Node& node : after_.model.graph().node()) {
      const auto at = was.find(node.name());
      if (at == was.end()) continue;
      ++kept;
      EXPECT_EQ(node.doc_string(), at->second->doc_string()) << node.name();
      EXPECT_EQ(EntriesOf(node.metadata_props()), EntriesOf(at->second->metadata_props()));
      std::set<std::string> attributes;
      for (const onnx_wire::Attribute& attribute : at->second->attribute()) {
        attributes.insert(attribute.name());
      }
      for (const onnx_wire::Attribute& attribute : node.attribute()) {
        if (!attributes.contains(attribute.name())) continue;
        EXPECT_EQ(attribute.doc_string(), "about " + attribute.name()) << node.name();
      }
    }
    EXPECT_GT(kept, 0);
  }

  // A value or an initializer that is there under its name has its doc string.
  void CompareValues() {
    const onnx_wire::Graph &was = before_.graph(), &is = after_.model.graph();
    std::set<std::string> documented, tensors, present;
    for (const onnx_wire::ValueInfo& info : was.value_info()) documented.insert(info.name());
    for (const onnx_wire::Tensor& tensor : was.initializer()) documented.insert(tensor.name());
    for (const onnx_wire::ValueInfo& info : is.value_info()) {
      present.insert(info.name());
      if (!documented.contains(info.name())) continue;
      EXPECT_EQ(info.doc_string(), "about " + info.name());
    }
    for (const onnx_wire::Tensor& tensor : is.initializer()) {
      tensors.insert(tensor.name());
      const bool known = documented.contains(tensor.name());
      EXPECT_EQ(tensor.doc_string(), known ? "about " + tensor.name() : "");
    }
    int expected = 0;
    for (const onnx_wire::Annotation& annotation : was.quantization_annotation()) {
      const auto& parameter = annotation.quant_parameter_tensor_names(0);
      const std::string& tensor = annotation.tensor_name();
      const bool is_there = present.contains(tensor) || tensors.contains(tensor);
      expected += is_there && tensors.contains(parameter.value());
    }
    EXPECT_EQ(is.quantization_annotation_size(), expected);
  }

  Model before_ = {};
  Done after_ = {};
};

TEST_P(Contract, IsKeptFieldByField) {
  CompareVersions();
  CompareModel();
  CompareInterfaces();
  CompareNodes();
  CompareValues();
}

TEST_P(Contract, EveryValueHasItsValueInfo) {
  const auto imported = onnx::ImportModel(after_.bytes);
  ASSERT_TRUE(imported) << imported.error().message;
  std::map<std::string, const onnx_wire::ValueInfo*> infos;
  for (const onnx_wire::ValueInfo& info : after_.model.graph().value_info()) {
    EXPECT_TRUE(infos.emplace(info.name(), &info).second) << info.name();
  }
  for (const onnx_wire::ValueInfo& output : after_.model.graph().output()) {
    EXPECT_FALSE(infos.contains(output.name())) << output.name();
    infos.emplace(output.name(), &output);
  }
  for (const onnx_wire::Node& node : after_.model.graph().node()) {
    for (const std::string& result : node.output()) {
      ASSERT_TRUE(infos.contains(result)) << node.op_type() << " " << result;
      const onnx_wire::TensorType& type = infos[result]->type().tensor_type();
      const ir::ValueId value = imported->graph.Find(result);
      if (!value) continue;  // import skips guards
      ir::Shape shape;
      for (const onnx_wire::Dimension& dim : type.shape().dim()) {
        // An open one has whatever extent import gives it.
        const ir::Shape& bound = imported->graph.type(value).shape;
        const bool open = !dim.has_dim_value() && shape.size() < bound.size();
        shape.push_back(open ? bound[shape.size()] : dim.dim_value());
      }
      EXPECT_EQ(shape, imported->graph.type(value).shape) << result;
    }
  }
}

TEST(Annotations, AreKeptWithAllTensorsThatTheyName) {
  const Done float_model = RunJob(Blob(std::string(kTinyModel)), [](Request& request) {
    request.model.name = "net.graph";
    request.samples.clear();
    request.options.no_quantize = true;
  });
  Model model = float_model.model;
  ASSERT_GT(model.graph().initializer_size(), 0);
  ASSERT_GT(model.graph().node_size(), 0);
  const std::string tensor = model.graph().initializer(0).name();
  const std::string value = model.graph().node(0).output(0);
  for (const std::string& parameter : {tensor, std::string("absent")}) {
    onnx_wire::Annotation& annotation = *model.mutable_graph()->add_quantization_annotation();
    annotation.set_tensor_name(value);
    AddEntry(*annotation.mutable_quant_parameter_tensor_names(), "SCALE_TENSOR", parameter);
  }
  const Done done = RunJob(Blob(model.SerializeAsString()), [](Request& request) {
    request.samples.clear();
    request.options.no_quantize = true;
  });
  const onnx_wire::Graph& graph = done.model.graph();
  ASSERT_EQ(graph.quantization_annotation_size(), 1);
  EXPECT_EQ(graph.quantization_annotation(0).SerializeAsString(),
            model.graph().quantization_annotation(0).SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(Trained, Contract,
                         testing::Values("fastestdet", "magika_v3_3", "mnist_cnn_pytorch",
                                         "mnist_cntk", "squeezenet_products", "superres_224",
                                         "ultraface_rfb320"),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------ what a job writes of itself

Blob TinyText() { return Blob(std::string(kTinyModel)); }

Done Tiny(const std::function<void(Request&)>& change = {}) {
  return RunJob(TinyText(), [&](Request& request) {
    request.model.name = "net.graph";
    if (change) change(request);
  });
}

TEST(Stamp, HasActionOptionsAndProfile) {
  const Done done = Tiny();
  const Entries entries = EntriesOf(done.model.metadata_props());
  EXPECT_EQ(entries.at(ir::kActionDigestKey), done.report["action_digest"]);
  EXPECT_EQ(json::parse(entries.at(ir::kOptionsKey))["target"], "cpu-int8");
  EXPECT_TRUE(entries.at(ir::kProfileDigestKey).starts_with("sha256:"));
}

TEST(Stamp, IsTheSameForEveryNameOfTheResult) {
  const Done one = Tiny();
  const Done other = Tiny([](Request& request) { request.options.output_name = "other.onnx"; });
  EXPECT_TRUE(one.bytes.text() == other.bytes.text());
}

TEST(Stamp, HasTheDigestOfTheGivenProfile) {
  const std::string profile = R"({"octavo_profile": 1, "values": [
      {"name": "x", "min": -1, "max": 1}, {"name": "c", "min": -4, "max": 4},
      {"name": "r", "min": 0, "max": 4}, {"name": "y", "min": 0, "max": 4}]})";
  const Done done = Tiny([&](Request& request) {
    request.samples.clear();
    request.profile = NamedBlob{"p.json", Blob(profile)};
  });
  EXPECT_EQ(EntriesOf(done.model.metadata_props()).at(ir::kProfileDigestKey),
            "sha256:" + Sha256Of(std::string_view(profile)));
}

TEST(Stamp, IsLeftAsItIsByAJobThatChangesNothing) {
  const Done first = Tiny();
  const Done second = RunJob(first.bytes, [](Request& request) {
    request.samples.clear();
    request.options.no_quantize = true;
  });
  EXPECT_TRUE(first.bytes.text() == second.bytes.text());
}

TEST(Stamp, IsOfTheLastJobThatChangedTheModel) {
  const Done first = Tiny();
  const Done second = RunJob(first.bytes, [](Request& request) {
    request.samples.clear();
    request.options.no_quantize = true;
    request.options.opset = 17;
  });
  EXPECT_EQ(EntriesOf(second.model.metadata_props()).at(ir::kActionDigestKey),
            second.report["action_digest"]);
  EXPECT_NE(second.report["action_digest"], first.report["action_digest"]);
}

// ------------------------------------------------------------ re-fused operators

// An op in float and one in integers for each that import knows by its parts.
constexpr std::string_view kFused = R"(graph(%x: tensor<1x4x16xf32>) -> (%y) opset(ai.onnx: 20) {
  const %w = random(1) : tensor<16x16xf32>
  const %s = random(2) : tensor<16xf32>
  const %b = random(3) : tensor<16xf32>
  %m = MatMul(%x, %w) : tensor<1x4x16xf32>
  %g = Gelu@"gelu"(%m) : tensor<1x4x16xf32>
  %f = Gelu@"float_gelu"(%g) : tensor<1x4x16xf32>
  %n = LayerNormalization@"norm"(%f, %s, %b) : tensor<1x4x16xf32>
  %y = MatMul(%n, %w) : tensor<1x4x16xf32>
}
)";

std::map<std::string, int> CountOps(const Model& model) {
  std::map<std::string, int> ops;
  for (const onnx_wire::Node& node : model.graph().node()) ++ops[node.op_type()];
  return ops;
}

TEST(Opset, RefusedOpsAreWrittenOutBelowTheirOwn) {
  for (const int64_t opset : {13, 17, 20}) {
    const Done done = RunJob(Blob(std::string(kFused)), [&](Request& request) {
      request.model.name = "net.graph";
      request.options.opset = opset;
      request.options.keep_float = {"float_gelu"};
    });
    auto ops = CountOps(done.model);
    EXPECT_EQ(OpsetsOf(done.model)[""], opset);
    EXPECT_EQ(ops["Gelu"], opset < 20 ? 0 : 2) << opset;
    EXPECT_EQ(ops["Erf"], opset < 20 ? 2 : 0) << opset;
    EXPECT_EQ(ops["LayerNormalization"], opset < 17 ? 0 : 1) << opset;
    EXPECT_EQ(WarningOf(done.report, "opset_raised"), nullptr);
    // Read again, they are the same operators: a job that changes nothing writes the same bytes.
    const Done again = RunJob(done.bytes, [](Request& request) {
      request.samples.clear();
      request.options.no_quantize = true;
    });
    EXPECT_TRUE(again.bytes.text() == done.bytes.text()) << opset;
    EXPECT_EQ(again.report["model"]["ops_after"]["Gelu"], 2) << opset;
  }
}

}  // namespace
}  // namespace octavo::job

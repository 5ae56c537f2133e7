// SPDX-License-Identifier: Apache-2.0
// Nodes that one job kept in float stay float in the next one: the model's metadata lists them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/ir/qdq_notes.h"
#include "core/job/job.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::job {
namespace {

using nlohmann::json;

constexpr std::string_view kIsland =
    R"(graph(%x: tensor<1x4xu8, scale=0.5, zp=3>, %z: tensor<1x4xu8, scale=0.25, zp=0>) -> (%y, %t) {
  %xf = Dequantize(%x) : tensor<1x4xf32>
  %zf = Dequantize(%z) : tensor<1x4xf32>
  %s = Add@"sum"(%xf, %zf) : tensor<1x4xf32>
  %y = Quantize(%s) : tensor<1x4xu8, scale=0.5, zp=0>
  %t = Mul@"product"(%x, %z) : tensor<1x4xu8, scale=0.5, zp=0>
}
)";

Request JobOn(NamedBlob model, EmitForm emit) {
  Request request;
  request.model = std::move(model);
  request.options.no_quantize = true;
  request.options.emit = emit;
  request.options.threads = 1;
  return request;
}

onnx_wire::Model Exported() {
  const auto exported =
      Run(JobOn({"net.graph", Blob(std::string(kIsland))}, EmitForm::kQdq), {}, {});
  EXPECT_TRUE(exported) << exported.error().message;
  onnx_wire::Model model;
  EXPECT_TRUE(model.ParseFromString(std::string(exported->model.bytes.text())));
  return model;
}

onnx_wire::StringEntry* ListOf(onnx_wire::Model& model) {
  for (onnx_wire::StringEntry& entry : *model.mutable_metadata_props()) {
    if (entry.key() == ir::kKeptFloatKey) return &entry;
  }
  return nullptr;
}

Result<Outcome> Again(const onnx_wire::Model& model) {
  return Run(JobOn({"m.onnx", Blob(model.SerializeAsString())}, EmitForm::kText), {}, {});
}

json FloatNodesOf(const Outcome& outcome) {
  return json::parse(outcome.report_json)["float_nodes"];
}

TEST(KeptFloat, ANodeOfTheListStaysFloat) {
  onnx_wire::Model model = Exported();
  const onnx_wire::StringEntry* list = ListOf(model);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->value(), R"(["sum"])");
  const auto again = Again(model);
  ASSERT_TRUE(again) << again.error().message;
  const json nodes = FloatNodesOf(*again);
  ASSERT_EQ(nodes.size(), 1) << nodes;
  EXPECT_EQ(nodes[0]["node"], "sum");
  EXPECT_EQ(nodes[0]["reason"], "the model's metadata lists it as kept in float");
}

TEST(KeptFloat, WithoutTheListItComputesInIntegers) {
  onnx_wire::Model model = Exported();
  model.clear_metadata_props();
  const auto again = Again(model);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(FloatNodesOf(*again).empty()) << FloatNodesOf(*again);
}

TEST(KeptFloat, NamesOfNoNodeChangeNothing) {
  onnx_wire::Model model = Exported();
  json names = {"sum", "", "sum", "product.other"};
  for (int i = 0; i < 100'000; ++i) names.push_back(fmt::format("no node {}", i));
  ListOf(model)->set_value(names.dump());
  const auto again = Again(model);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(FloatNodesOf(*again).size(), 1) << FloatNodesOf(*again);
}

TEST(KeptFloat, AnEntryThatIsNoListOfNamesIsRefused) {
  for (const std::string_view entry :
       {"", "sum", "{}", R"(["sum")", R"(["sum", 1])", R"([["sum"]])", R"([null])"}) {
    onnx_wire::Model model = Exported();
    ListOf(model)->set_value(std::string(entry));
    const auto again = Again(model);
    ASSERT_FALSE(again) << entry;
    EXPECT_EQ(again.error().code, Code::kInvalidArgument);
    EXPECT_EQ(again.error().field, ir::kKeptFloatKey);
    EXPECT_EQ(again.error().message, "metadata 'octavo.kept_float' is not a list of names");
  }
}

}  // namespace
}  // namespace octavo::job

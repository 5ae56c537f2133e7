// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/wire_scanner.h"

#include <gmock/gmock.h>

#include <random>

#include "core/onnx/import/import.h"
#include "core/onnx/wire/model_proto.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::onnx {
namespace {

using testing::HasSubstr;

std::string SmallModel() {
  ModelBuilder builder;
  builder.Input("x", {1, 4}).Constant("w", ir::Tensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  builder.Node("MatMul", {"x", "w"}, {"y"}).Output("y");
  return builder.Text();
}

std::string Field(int number, int wire_type) {
  return std::string(1, static_cast<char>(number << 3 | wire_type));
}

TEST(WireScanner, TakesPayloadsOutOfTheSkeleton) {
  ModelBuilder builder;
  builder.Constant("w", ir::Tensor(ir::DType::kF32, {256, 256}));
  const Blob blob = builder.Build();
  const auto skeleton = ScanModel(blob);
  ASSERT_TRUE(skeleton);
  EXPECT_LT(skeleton->bytes.size(), 100u);
  ASSERT_EQ(skeleton->views.size(), 1u);
  EXPECT_EQ(skeleton->views[0].bytes.size(), 256u * 256 * 4);
  // The data is a view, not a copy.
  EXPECT_GT(skeleton->views[0].bytes.bytes().data(), blob.bytes().data());
  EXPECT_LT(skeleton->views[0].bytes.bytes().data(), blob.bytes().data() + blob.size());
}

TEST(WireScanner, EveryPrefixOfAModelIsRefusedOrHasNoWholeGraph) {
  const std::string model = SmallModel();
  for (size_t size = 0; size < model.size(); ++size) {
    const auto imported = ImportModel(Blob(model.substr(0, size)));
    // A prefix that ends after the graph is a whole model or lacks only its opset.
    if (imported) continue;
    EXPECT_EQ(imported.error().code, Code::kInvalidArgument)
        << size << ": " << imported.error().message;
  }
  const auto cut = ScanModel(Blob(model.substr(0, model.size() / 2)));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().reason, "TRUNCATED");
}

TEST(WireScanner, ALengthPastTheEndIsTruncatedWhateverItClaims) {
  // graph (field 7) of 2^62 bytes
  const auto scanned =
      ScanModel(Blob(Field(7, 2) + std::string("\x80\x80\x80\x80\x80\x80\x80\x80\x40")));
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().reason, "TRUNCATED");
}

TEST(WireScanner, AVarintOfElevenBytesIsMalformed) {
  const auto scanned = ScanModel(Blob(Field(1, 0) + std::string(10, '\xff') + "\x01"));
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().reason, "MALFORMED");
}

TEST(WireScanner, GroupsAreMalformed) {
  const auto scanned = ScanModel(Blob(Field(1, 3) + Field(1, 4)));
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().reason, "MALFORMED");
}

TEST(WireScanner, AGraphGivenTwiceIsMalformed) {
  const std::string graph = Field(7, 2) + std::string(1, '\0');
  const auto scanned = ScanModel(Blob(graph + graph));
  ASSERT_FALSE(scanned);
  EXPECT_THAT(scanned.error().message, HasSubstr("field 7 given twice"));
}

TEST(WireScanner, PartsAreCountedBeforeTheyAreMade) {
  std::string graph;
  for (int i = 0; i < 1000; ++i) graph += Field(1, 2) + std::string(1, '\0');
  std::string model = Field(7, 2) + "\xd0\x0f" + graph;
  EXPECT_TRUE(ScanModel(Blob(model)));
  const auto scanned = ScanModel(Blob(model), {.messages = 100});
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code, Code::kTooLarge);
}

TEST(WireScanner, UnknownFieldsAreSkipped) {
  const std::string model = SmallModel() + "\xfa\x07\x03" + "abc";  // field 127
  const auto imported = ParseModel(Blob(model));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->model.graph().node_size(), 1);
}

TEST(WireScanner, AModelCannotNumberViewsItself) {
  ModelBuilder builder;
  builder.Constant("w", ir::Tensor(ir::DType::kF32, {1}));
  builder.graph().mutable_initializer(0)->add_view(7);
  const auto parsed = ParseModel(builder.Build());
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->model.graph().initializer(0).view_size(), 1);
  EXPECT_EQ(parsed->model.graph().initializer(0).view(0), 0u);
}

TEST(WireScanner, RandomDamageNeverGetsPastTheChecksUnseen) {
  const std::string model = SmallModel();
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = model;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto imported = ImportModel(Blob(damaged));
    if (imported) continue;
    ++refused;
    // Whatever is wrong with the bytes, the error must not be an internal one.
    EXPECT_NE(imported.error().code, Code::kInternal) << imported.error().message;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace octavo::onnx

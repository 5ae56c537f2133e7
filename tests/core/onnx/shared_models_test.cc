// SPDX-License-Identifier: Apache-2.0
// Every shared model imports completely: all operators known, all extents bound, a valid graph.
#include <gmock/gmock.h>

#include <filesystem>

#include "core/ir/verify.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ModelNames() {
  return {"fastestdet",          "magika_v3_3",  "mnist_cnn_pytorch", "mnist_cntk",
          "squeezenet_products", "superres_224", "ultraface_rfb320"};
}

class SharedModels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    path_ = fs::path(OCTAVO_SHARED_DIR) / "models" / GetParam() / "model.onnx";
    if (!fs::exists(path_)) GTEST_SKIP() << path_ << " is absent";
  }
  fs::path path_;
};

TEST_P(SharedModels, ComesInSound) {
  const auto blob = Blob::MapFile(path_.string());
  ASSERT_TRUE(blob);
  const auto imported = test::ImportFolded(*blob);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(ir::Verify(imported->graph));
  EXPECT_EQ(imported->batch, 1);
  for (const ir::ValueId input : imported->graph.inputs()) {
    EXPECT_FALSE(imported->graph.IsConstant(input));
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, SharedModels, testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace octavo::onnx

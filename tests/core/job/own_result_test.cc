// SPDX-License-Identifier: Apache-2.0
// A job given its own result changes no byte: trained models of ../shared, those that take little
// time (tests/core/properties/idempotent_test.cc draws random ones).
#include <gtest/gtest.h>

#include "core/job/job.h"

namespace octavo::job {
namespace {

class OwnResult : public testing::TestWithParam<std::string> {};

TEST_P(OwnResult, StaysAsItIs) {
  auto model = Blob::MapFile(OCTAVO_SHARED_DIR "/models/" + GetParam() + "/model.onnx");
  ASSERT_TRUE(model) << model.error().message;
  Request request{.model = {"model.onnx", *std::move(model)}};
  request.samples = {{"random:7:1", Blob(std::string())}};
  request.options.deterministic = true;
  auto first = job::Run(request, {}, {});
  ASSERT_TRUE(first) << first.error().message;
  const std::string bytes(first->model.bytes.text());
  request.model = std::move(first->model);
  request.external_data = std::move(first->external);
  request.options.no_quantize = true;
  const auto second = job::Run(request, {}, {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->model.bytes.text() == bytes);
}
INSTANTIATE_TEST_SUITE_P(Models, OwnResult,
                         testing::Values("mnist_cnn_pytorch", "mnist_cntk", "superres_224",
                                         "ultraface_rfb320"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// A job in a worker gives the bytes of the same job in this process.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/revision.h"
#include "core/job/job.h"
#include "server/worker/runner.h"
#include "server/worker/worker.h"
#include "tests/server/worker_process/counting_probe.h"

namespace octavo::server::worker {
namespace {

namespace fs = std::filesystem;

class SameBytes : public testing::Test {
 protected:
  void SetUp() override {
    auto runner = Runner::Start({.program = OCTAVO_WORKER, .build = BuildText(Revision())}, probe_);
    ASSERT_TRUE(runner) << runner.error().message;
    runner_ = *std::move(runner);
  }
  // Both outcomes are equal, results or errors.
  void ExpectSame(const job::Request& request) {
    const auto here = job::Run(request, {}, {});
    const auto there = runner_->Run(request, {}, {});
    ASSERT_EQ(here.has_value(), there.has_value())
        << (here ? there.error().message : here.error().message);
    if (!here) {
      EXPECT_EQ(here.error(), there.error());
      return;
    }
    ExpectSame(here->model, there->model);
    ExpectSame(here->external, there->external);
    ExpectSame(here->snapshots, there->snapshots);
    EXPECT_EQ(here->report_json, there->report_json);
    EXPECT_EQ(here->certificate, there->certificate);
    EXPECT_EQ(here->gate_failed, there->gate_failed);
    EXPECT_EQ(here->message, there->message);
    EXPECT_EQ(here->facts.output_sqnr_db, there->facts.output_sqnr_db);
    EXPECT_EQ(here->facts.value_sqnr_db, there->facts.value_sqnr_db);
    EXPECT_EQ(here->facts.rewrites.size(), there->facts.rewrites.size());
    EXPECT_EQ(here->facts.kernels.size(), there->facts.kernels.size());
  }
  static void ExpectSame(const job::NamedBlob& here, const job::NamedBlob& there) {
    EXPECT_EQ(here.name, there.name);
    EXPECT_TRUE(here.bytes.text() == there.bytes.text()) << here.name;
  }
  static void ExpectSame(const std::vector<job::NamedBlob>& here,
                         const std::vector<job::NamedBlob>& there) {
    ASSERT_EQ(here.size(), there.size());
    for (size_t i = 0; i < here.size(); ++i) ExpectSame(here[i], there[i]);
  }

  CountingProbe probe_;
  std::unique_ptr<Runner> runner_;
};

job::Request RequestFor(const std::string& model, EmitForm emit) {
  auto bytes = Blob::MapFile(model);
  EXPECT_TRUE(bytes) << bytes.error().message;
  job::Request request{.model = {.name = "model.onnx", .bytes = bytes.value_or(Blob())},
                       .samples = {{.name = "random:3:2", .bytes = Blob(std::string())}},
                       .certificate = true};
  request.options.emit = emit;
  request.options.deterministic = true;
  request.options.snapshots = true;
  request.options.threads = 2;
  return request;
}

constexpr EmitForm kForms[] = {EmitForm::kQdq, EmitForm::kQlinear, EmitForm::kNative,
                               EmitForm::kText};

TEST_F(SameBytes, OfTheDigitsModelInEveryForm) {
  const std::string folder = OCTAVO_SOURCE_DIR "/tests/data/digits";
  for (const EmitForm emit : kForms) {
    job::Request request = RequestFor(folder + "/model.onnx", emit);
    request.samples = {
        {.name = "calibration.npz", .bytes = *Blob::MapFile(folder + "/calibration.npz")}};
    ExpectSame(request);
  }
}

TEST_F(SameBytes, WithExternalData) {
  job::Request request =
      RequestFor(OCTAVO_SOURCE_DIR "/tests/data/digits/model.onnx", EmitForm::kQdq);
  request.options.external_over = 1;
  ExpectSame(request);
}

TEST_F(SameBytes, OfTheSharedModels) {
  for (const char* name : {"mnist_cntk", "magika_v3_3", "fastestdet"}) {
    const fs::path model = fs::path(OCTAVO_SHARED_DIR) / "models" / name / "model.onnx";
    if (!fs::exists(model)) GTEST_SKIP() << model << " is absent";
    SCOPED_TRACE(name);
    ExpectSame(RequestFor(model, EmitForm::kQdq));
  }
}

// The estimate is within these factors of the peak, which has the program in it, and the limit that
// follows from it stops no job.  The smallest model's is 2.5 to 2.6 times its peak.
constexpr double kLeastFactor = 0.8;
constexpr double kMostFactor = 3;

TEST(MemoryOfWorkers, IsAsEstimated) {
  if (!kLocked) GTEST_SKIP() << "a sanitizer needs memory of its own";
  for (const char* name : {"mnist_cntk", "mnist_cnn_pytorch", "magika_v3_3", "fastestdet",
                           "squeezenet_products", "superres_224", "ultraface_rfb320"}) {
    const fs::path model = fs::path(OCTAVO_SHARED_DIR) / "models" / name / "model.onnx";
    if (!fs::exists(model)) GTEST_SKIP() << model << " is absent";
    CountingProbe probe;
    const auto runner =
        Runner::Start({.program = OCTAVO_WORKER, .build = BuildText(Revision())}, probe);
    ASSERT_TRUE(runner) << runner.error().message;
    job::Request request = RequestFor(model, EmitForm::kQdq);
    int64_t estimate = 0;
    const auto outcome = (*runner)->Run(request, {}, [&](const job::Progress& progress) {
      estimate = std::max(estimate, progress.memory_bytes);
    });
    ASSERT_TRUE(outcome) << name << ": " << outcome.error().message;
    const auto peak = static_cast<double>(probe.peak_rss());
    EXPECT_GT(static_cast<double>(estimate), kLeastFactor * peak) << name;
    EXPECT_LT(static_cast<double>(estimate), kMostFactor * peak) << name;
  }
}

TEST_F(SameBytes, OfErrors) {
  job::Request request =
      RequestFor(OCTAVO_SOURCE_DIR "/tests/data/digits/model.onnx", EmitForm::kQdq);
  request.model.bytes = request.model.bytes.Slice(0, request.model.bytes.size() / 2);
  ExpectSame(request);
  request.model.bytes =
      Blob(std::string("graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Nope(%x)\n}\n"));
  request.model.name = "m.graph";
  ExpectSame(request);
}

TEST_F(SameBytes, OfAFailedGate) {
  job::Request request =
      RequestFor(OCTAVO_SOURCE_DIR "/tests/data/digits/model.onnx", EmitForm::kQdq);
  request.options.require_sqnr = 300;
  ExpectSame(request);
}

}  // namespace
}  // namespace octavo::server::worker

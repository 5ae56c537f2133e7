// SPDX-License-Identifier: Apache-2.0
// Random samples, whose number a request of a few bytes decides, fill no memory and delay no stop.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/job/job.h"
#include "core/job/synthetic.h"
#include "tests/support/sanitized.h"

namespace octavo::job {
namespace {

using Clock = std::chrono::steady_clock;

// 1 MiB a sample.
Request WithSamples(std::string samples) {
  constexpr std::string_view kModel = R"(graph(%x: tensor<1x262144xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x262144xf32>
}
)";
  Request request;
  request.model = {"relu.graph", Blob(std::string(kModel))};
  request.samples = {{std::move(samples), Blob(std::string())}};
  request.options.threads = 1;
  return request;
}

int64_t KibibytesOf(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kibibytes = 0;
  while (status >> word) {
    if (word == name + ":" && status >> kibibytes) return kibibytes;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(RandomSamples, TheirBatchesAreNotInMemoryTogether) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory, and draws for minutes";
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is now
  const int64_t before = KibibytesOf("VmRSS");
  ASSERT_TRUE(job::Run(WithSamples("random:1:600"), {}, {}));
  EXPECT_LT(KibibytesOf("VmHWM") - before, 200 << 10);
}

TEST(RandomSamples, AStopIsHeard) {
  const StopToken stop;
  Clock::time_point stopped;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stopped = Clock::now();
    stop.RequestStop();
  });
  const auto outcome = job::Run(WithSamples("random:1:6000"), stop, {});
  stopper.join();
  const std::chrono::duration<double, std::milli> heard = Clock::now() - stopped;
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  std::printf("heard after %.0f ms\n", heard.count());
  EXPECT_LT(heard.count(), 1000);  // 100, unless the machine is busy
}

TEST(RandomSamples, MoreThanTheLimitAreTooLarge) {
  Request request = WithSamples("random:1:6000");
  request.limits.samples_bytes = int64_t{5999} << 20;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kTooLarge);
  EXPECT_EQ(outcome.error().field, "max-samples-bytes");
}

// A batch that is drawn alone is the one that would be drawn after those before it.
TEST(SyntheticSamples, ABatchDoesNotDependOnWhichWereRead) {
  ir::Graph graph;
  graph.AddInput("x", {ir::DType::kF32, {3, 5}, {}, {}});
  graph.AddInput("ids", {ir::DType::kI64, {7}, {}, {}});
  graph.AddInput("plain", {ir::DType::kF32, {2}, {}, {}});
  profile::Profile profile;
  profile::Histogram histogram;
  histogram.Add(std::vector<float>{-1, 0, 0.5f, 2}, nullptr);
  profile.values["x"] = {.min = -1, .max = 2, .histogram = histogram};
  const data::Samples samples = DrawSamples(graph, profile, /*seed=*/3, /*count=*/4);
  const auto third = samples.batches.Read(2, {});
  std::vector<ir::Batches::Batch> all;
  for (int64_t b = 0; b < 4; ++b) all.push_back(samples.batches.Read(b, {}).value());
  EXPECT_EQ(*third, all[2]);
  EXPECT_NE(all[0], all[1]);
  // Numbers of a batch follow those of the batch before it: 2 x 15 + 7 + 2.
  EXPECT_EQ(
      all[1][1],
      DrawSamples(graph, profile, 3 + 39 * 0x9e3779b97f4a7c15u, 1).batches.Read(0, {}).value()[1]);
}

}  // namespace
}  // namespace octavo::job

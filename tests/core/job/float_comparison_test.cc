// SPDX-License-Identifier: Apache-2.0
// Peaks that a detector of lines picks: where a score equals the largest one around it.
#include <gtest/gtest.h>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "tests/core/job/graph_jobs.h"

namespace octavo::job {
namespace {

// Scores around 0.98: of 255 steps between 0 and 1, they span a few.
constexpr std::string_view kDetector = R"(graph(%x: tensor<1x1x16x16xf32, range=[-1, 1]>) -> (%i) {
  const %w = random(3) : tensor<4x1x3x3xf32>
  const %b = [0, 0, 0, 0] : tensor<4xf32>
  const %v = random(4) : tensor<1x4x1x1xf32>
  const %c = [4] : tensor<1xf32>
  const %flat = [-1, 256] : tensor<2xi64>
  const %k = [12] : tensor<1xi64>
  %h = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : tensor<1x4x16x16xf32>
  %r = Relu(%h) : tensor<1x4x16x16xf32>
  %l = Conv(%r, %v, %c) : tensor<1x1x16x16xf32>
  %s = Sigmoid(%l) : tensor<1x1x16x16xf32>
  %m = MaxPool(%s) {kernel_shape = [5, 5], pads = [2, 2, 2, 2]} : tensor<1x1x16x16xf32>
  %e = Equal(%s, %m) : tensor<1x1x16x16xbool>
  %f = Cast(%e) {to = 1} : tensor<1x1x16x16xf32>
  %p = Mul(%s, %f) : tensor<1x1x16x16xf32>
  %q = Reshape(%p, %flat) : tensor<1x256xf32>
  %best, %i = TopK(%q, %k) : tensor<1x12xf32>, tensor<1x12xi64>
}
)";
const NamedBlob kSamples = {"random:7:16", Blob(std::string())};

// The places of the strongest peaks, 12 for each of 16 samples.
std::vector<int64_t> PlacesOf(const NamedBlob& model) {
  const auto files = RunModel({.model = model, .samples = {kSamples}, .threads = 1},
                              /*all_values=*/false, {}, {});
  EXPECT_TRUE(files) << files.error().message;
  for (const NamedBlob& file : *files) {
    if (file.name == "i.npy") return data::ReadNpy("i", file.bytes)->ToInts();
  }
  ADD_FAILURE() << "no places";
  return {};
}

Request JobOnDetector() {
  Request request;
  request.model = {"net.graph", Blob(std::string(kDetector))};
  request.samples = {kSamples};
  request.options.deterministic = true;
  return request;
}

// The share of the float model's peaks that the quantized model finds.
double RightPeaks(NumericsLimit limit) {
  Request request = JobOnDetector();
  request.options.emit = EmitForm::kNative;
  request.options.numerics_limit = limit;
  const NamedBlob model = request.model;
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  const std::vector<int64_t> expected = PlacesOf(model), found = PlacesOf(outcome->model);
  EXPECT_EQ(expected.size(), 192u);
  int right = 0;
  for (size_t begin = 0; begin + 12 <= found.size(); begin += 12) {
    const auto of_sample = found.begin() + static_cast<ptrdiff_t>(begin);
    for (size_t k = begin; k < begin + 12; ++k) {
      right += std::find(of_sample, of_sample + 12, expected[k]) != of_sample + 12;
    }
  }
  return right / 192.0;
}

TEST(FloatComparison, PeaksAreRightWhereScoresAreNotRounded) {
  EXPECT_GT(RightPeaks(NumericsLimit::kFewerRoundings), 0.9);
  EXPECT_LT(RightPeaks(NumericsLimit::kExact), 0.6)
      << "the limit forbids the rule: plateaus become peaks";
}

TEST(FloatComparison, AnotherJobOnTheResultChangesNoByte) {
  const auto first = job::Run(JobOnDetector(), {}, {});
  ASSERT_TRUE(first) << first.error().message;
  Request request;
  request.model = first->model;
  request.options.no_quantize = true;
  request.options.deterministic = true;
  const auto second = job::Run(request, {}, {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->model.bytes.text() == first->model.bytes.text());
}

}  // namespace
}  // namespace octavo::job

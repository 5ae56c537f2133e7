// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>

#include "tests/core/data/cases.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Samples, RandomSamplesCountAgainstTheLimitBeforeTheyAreDrawn) {
  const auto source = SampleSource::Open({{"random:1:1000", {}}}, NoProto);
  ASSERT_TRUE(source);
  const std::vector<SampleInput> inputs = {FloatInput("x", {2, 256}), FloatInput("z", {1})};
  constexpr int64_t kBytes = 500 * (2 * 256 + 1) * 4;
  EXPECT_TRUE(CutSamples(*source, inputs, kBytes));
  const auto refused = CutSamples(*source, inputs, kBytes - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kTooLarge);
  EXPECT_EQ(refused.error().field, "max-samples-bytes");
  EXPECT_EQ(refused.error().message,
            "samples: 'random:1:1000' makes 500 batches of 2052 bytes each; at most 1025999 bytes "
            "are allowed (max-samples-bytes)");
}

// 16 TiB, if they were drawn together.
TEST(Samples, RandomSamplesAreDrawnWhenTheyAreReadAndDrawingStops) {
  const auto source = SampleSource::Open({{"random:1:1000000", {}}}, NoProto);
  ASSERT_TRUE(source);
  const auto samples = CutSamples(*source, {FloatInput("x", {1, 1 << 22})});
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->batches.size(), 1'000'000);
  EXPECT_TRUE(samples->batches.Read(999'999, {}));
  const auto large = CutSamples(*source, {FloatInput("x", {1, 1 << 26})});
  ASSERT_TRUE(large);
  const StopToken stop(StopToken::Clock::now() + std::chrono::milliseconds(5));
  const auto stopped = large->batches.Read(0, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kDeadlineExceeded);
}

TEST(Samples, AnArchiveIsCutIntoModelBatches) {
  const auto samples = Cut({Npz({{"x", ir::Tensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}})},
                           {FloatInput("x", {2, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 4);
  ASSERT_EQ(samples->batches.size(), 2);
  EXPECT_THAT(Read(samples, 1)[0].values<float>(), ElementsAre(5, 6, 7, 8));
}

TEST(Samples, AWrongTypeNamesTheInputAndBothTypes) {
  const auto samples = Cut({Npz({{"ids", ir::Tensor::Of<int64_t>({1, 2}, {1, 2})}})},
                           {{.name = "ids", .type = {ir::DType::kI32, {1, 2}, {}, {}}}});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().message,
            "samples: input 'ids' takes int32, but its array 'ids' of 'd.npz' is int64; --cast "
            "converts it");
  EXPECT_EQ(samples.error().field, "ids");
}

TEST(Samples, AWrongShapeNamesTheInput) {
  const auto samples =
      Cut({Npz({{"x", ir::Tensor(ir::DType::kF32, {4, 3})}})}, {FloatInput("x", {1, 2})});
  ASSERT_FALSE(samples);
  EXPECT_THAT(samples.error().message, HasSubstr("input 'x' has shape [1,2]"));
}

TEST(Samples, AMissingArrayAndAnUncutBatchAreErrors) {
  const NamedBlob npz = Npz({{"x", ir::Tensor(ir::DType::kF32, {3, 2})}});
  EXPECT_THAT(Cut({npz}, {FloatInput("z", {1, 2})}).error().message, HasSubstr("input 'z'"));
  EXPECT_THAT(Cut({npz}, {FloatInput("x", {2, 2})}).error().message,
              HasSubstr("2 samples at once"));
}

TEST(Samples, ADirectoryGivesOneSampleAFolder) {
  const auto sample = [](float value) {
    return Blob(WriteNpy(ir::Tensor::Of<float>({1, 1}, {value})));
  };
  const auto samples = Cut({{"test_data_set_1/input_0.npy", sample(2)},
                            {"test_data_set_0/input_0.npy", sample(1)},
                            {"test_data_set_0/output_0.npy", sample(9)}},
                           {FloatInput("x", {1, 1})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 2);
  EXPECT_THAT(Read(samples, 0)[0].values<float>(), ElementsAre(1));
  EXPECT_THAT(Read(samples, 1)[0].values<float>(), ElementsAre(2));
}

TEST(Samples, RandomOnesRepeatAndDifferBySeed) {
  const auto first = Cut({{"random:1:4", {}}}, {FloatInput("x", {1, 8})});
  const auto again = Cut({{"random:1:4", {}}}, {FloatInput("x", {1, 8})});
  const auto other = Cut({{"random:2:4", {}}}, {FloatInput("x", {1, 8})});
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->batches.size(), 4);
  for (int64_t b = 0; b < 4; ++b) {
    EXPECT_EQ(Read(first, b), Read(again, b));
    EXPECT_NE(Read(first, b), Read(other, b));
  }
  EXPECT_NE(Read(first, 0), Read(first, 1));
  EXPECT_EQ(Cut({{"random:x", {}}}, {FloatInput("x", {1, 8})}).error().code, Code::kUsage);
}

TEST(Samples, ShapesBindDynamicExtents) {
  const auto source =
      SampleSource::Open({Npz({{"x", ir::Tensor(ir::DType::kF32, {5, 7})}})}, NoProto);
  ASSERT_TRUE(source);
  EXPECT_THAT(source->Shapes({"x"}).at("x"), ElementsAre(5, 7));
}

TEST(Samples, AValueThatAllSamplesAgreeInIsFoundAndAnotherRefused) {
  const TensorParser none = [](const Blob&) -> Result<ir::Tensor> {
    return Fail(Code::kInternal, "no protos here");
  };
  const auto npy = [](const std::vector<int64_t>& values) {
    return Blob(WriteNpy(ir::Tensor::Ints(values)));
  };
  const auto source = SampleSource::Open({{"0/input_0.npy", npy({1})},
                                          {"0/input_1.npy", npy({3, 2})},
                                          {"1/input_0.npy", npy({9})},
                                          {"1/input_1.npy", npy({3, 2})}},
                                         none);
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<std::string> inputs = {"x", "shape"};
  const auto shape = CommonValue(source->Only(inputs, {"shape"}),
                                 {.name = "shape", .type = {ir::DType::kI64, {2}, {}, {}}});
  ASSERT_TRUE(shape && *shape);
  EXPECT_THAT((*shape)->ToInts(), ElementsAre(3, 2));
  const auto x = CommonValue(source->Only(inputs, {"x"}),
                             {.name = "x", .type = {ir::DType::kI64, {1}, {}, {}}});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, Code::kUnimplemented);
  EXPECT_THAT(x.error().message, HasSubstr("input 'x' determines a shape"));
}

}  // namespace
}  // namespace octavo::data

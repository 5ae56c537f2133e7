// SPDX-License-Identifier: Apache-2.0
// Samples are parted by their batches, with labels, numbers and origins.
#include "core/data/hold_out.h"

#include <gmock/gmock.h>

#include "core/data/sample_name.h"
#include "tests/core/data/cases.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;

// `count` samples of one element, which is the sample's number.
NamedBlob Numbered(int64_t count) {
  ir::Tensor rows(ir::DType::kF32, {count, 1});
  for (int64_t i = 0; i < count; ++i) rows.mutable_values<float>()[i] = static_cast<float>(i);
  return Npy("a.npy", rows);
}

std::vector<float> ValuesOf(const Samples& samples) {
  std::vector<float> values;
  for (int64_t b = 0; b < samples.batches.size(); ++b) {
    const ir::Batches::Batch batch = samples.batches.Read(b, {}).value();
    for (const float value : batch[0].values<float>()) values.push_back(value);
  }
  return values;
}

Parted Part(int64_t count, int64_t batch, int64_t every) {
  return HoldOut(Cut({Numbered(count)}, {FloatInput("x", {batch, 1})}).value(), every);
}

TEST(HoldOut, TheLastOfEachGroupEvaluates) {
  const Parted parted = Part(10, 1, 4);
  EXPECT_THAT(ValuesOf(parted.calibration), ElementsAre(0, 1, 2, 4, 5, 6, 8, 9));
  EXPECT_THAT(ValuesOf(parted.evaluation), ElementsAre(3, 7));
  EXPECT_EQ(parted.calibration.count, 8);
  EXPECT_EQ(parted.evaluation.count, 2);
  EXPECT_THAT(parted.evaluation.numbers, ElementsAre(3, 7));
  const Parted halves = Part(5, 1, 2);
  EXPECT_THAT(ValuesOf(halves.calibration), ElementsAre(0, 2, 4));
  EXPECT_THAT(ValuesOf(halves.evaluation), ElementsAre(1, 3));
}

TEST(HoldOut, BatchesStayWhole) {
  const Parted parted = Part(12, 3, 2);
  EXPECT_THAT(ValuesOf(parted.calibration), ElementsAre(0, 1, 2, 6, 7, 8));
  EXPECT_THAT(ValuesOf(parted.evaluation), ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_THAT(parted.evaluation.numbers, ElementsAre(3, 4, 5, 9, 10, 11));
}

TEST(HoldOut, LabelsAndOriginsGoWithTheirSamples) {
  const ir::Tensor labels = ir::Tensor::Ints({10, 11, 12, 13, 14, 15});
  const Samples all =
      Cut({Numbered(6), Npy("labels:l.npy", labels)}, {FloatInput("x", {1, 1})}).value();
  const Parted parted = HoldOut(all, 3);
  EXPECT_THAT(*parted.evaluation.labels, ElementsAre(12, 15));
  EXPECT_THAT(*parted.calibration.labels, ElementsAre(10, 11, 13, 14));
  EXPECT_EQ(parted.evaluation.origin(1, 0).first, 5) << "the second of them is the sixth row";
  EXPECT_EQ(parted.calibration.origin(2, 0).first, 3);
}

TEST(HoldOut, RandomSamplesAreTheSameOnes) {
  const Samples all = Cut({{"random:3:8", {}}}, {FloatInput("x", {1, 2})}).value();
  const Parted parted = HoldOut(all, 4);
  EXPECT_TRUE(parted.calibration.random && parted.evaluation.random);
  EXPECT_FALSE(parted.evaluation.origin);
  EXPECT_EQ(parted.evaluation.batches.Read(1, {}).value()[0], all.batches.Read(7, {}).value()[0]);
}

TEST(FirstOf, TakesNoMoreThanThereAre) {
  const Samples all = Cut({Numbered(3)}, {FloatInput("x", {1, 1})}).value();
  EXPECT_EQ(FirstOf(all.batches, 2).size(), 2);
  EXPECT_EQ(FirstOf(all.batches, 9).size(), 3);
  EXPECT_EQ(FirstOf(all.batches, 2).Read(1, {}).value()[0], all.batches.Read(1, {}).value()[0]);
}

TEST(SampleName, OfSamplesThatEvaluate) {
  for (const char* name : {"a.npz", "#1/a/b.npy", "#2:x=b.npy", "random:1:4"}) {
    const std::string evaluation = EvaluationName(name);
    EXPECT_EQ(KindOf(evaluation), SampleKind::kEvaluation);
    EXPECT_EQ(WithoutWord(evaluation), name);
  }
  EXPECT_EQ(FileOf("evaluate:#1/a/b.npy"), "a/b.npy");
  EXPECT_EQ(FileOf("evaluate:#2:x=b.npy"), "b.npy");
  EXPECT_EQ(FileOf("labels:b.npy"), "b.npy");
}

TEST(SampleSource, RefusesSamplesThatEvaluateWhereTheyWereNotTakenOut) {
  const auto samples = Cut({{"evaluate:a.npy", Numbered(3).bytes}}, {FloatInput("x", {1, 1})});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace octavo::data

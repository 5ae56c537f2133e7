// SPDX-License-Identifier: Apache-2.0
// The forms of --data, and what reads them.
#include <gmock/gmock.h>

#include <chrono>
#include <ctime>
#include <fstream>

#include "core/base/spool.h"
#include "core/data/sample_name.h"
#include "tests/core/data/cases.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ir::Tensor Floats(const ir::Shape& shape, float first) {
  ir::Tensor tensor(ir::DType::kF32, shape);
  for (float& value : tensor.mutable_values<float>()) value = first++;
  return tensor;
}

float First(const Result<Samples>& samples, int64_t batch, size_t input = 0) {
  return Read(samples, batch)[input].values<float>()[0];
}

TEST(SampleFiles, AFlatFolderOfNpyIsOneSampleAFile) {
  const auto samples = Cut({Npy("a.npy", Floats({1, 2}, 1)), Npy("b.npy", Floats({1, 2}, 3)),
                            Npy("c.npy", Floats({2, 2}, 5))},
                           {FloatInput("x", {1, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 4);
  EXPECT_EQ(First(samples, 1), 3);
  EXPECT_EQ(First(samples, 3), 7);
}

TEST(SampleFiles, FilesNamedAfterTheInputsBelongTogether) {
  const std::vector<SampleInput> inputs = {FloatInput("x", {1, 2}), FloatInput("y", {1})};
  const auto samples = Cut({Npy("y.npy", Floats({2}, 9)), Npy("x.npy", Floats({2, 2}, 1))}, inputs);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 2);
  EXPECT_EQ(First(samples, 1, 0), 3);
  EXPECT_EQ(First(samples, 1, 1), 10);
}

TEST(SampleFiles, NumberedFoldersMayNameTheInputs) {
  const std::vector<SampleInput> inputs = {FloatInput("Input3", {1, 2}), FloatInput("y", {1})};
  const auto samples =
      Cut({Npy("0/y.npy", Floats({1}, 5)), Npy("0/Input3.npy", Floats({1, 2}, 1)),
           Npy("10/Input3.npy", Floats({1, 2}, 7)), Npy("10/y.npy", Floats({1}, 6)),
           Npy("2/y.npy", Floats({1}, 8)), Npy("2/Input3.npy", Floats({1, 2}, 3))},
          inputs);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 3);
  EXPECT_EQ(First(samples, 1), 3);  // folder 2 precedes folder 10
  EXPECT_EQ(First(samples, 2, 1), 6);
}

TEST(SampleFiles, NumberedFoldersMayHoldAnNpz) {
  const auto samples =
      Cut({Npz({{"x", Floats({1, 2}, 1)}}, "11/a.npz"), Npz({{"x", Floats({1, 2}, 3)}}, "2/a.npz")},
          {FloatInput("x", {1, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(First(samples, 0), 3);
  EXPECT_EQ(First(samples, 1), 1);
}

TEST(SampleFiles, SeveralNpzFollowEachOther) {
  const auto samples =
      Cut({Npz({{"x", Floats({2, 2}, 1)}}), Npz({{"x", Floats({1, 2}, 7)}}, "e.npz")},
          {FloatInput("x", {1, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 3);
  EXPECT_EQ(First(samples, 2), 7);
}

// A model with a fixed batch takes samples from files that hold one each.
TEST(SampleFiles, ABatchMayComeFromSeveralFiles) {
  const auto samples = Cut({Npy("a.npy", Floats({2}, 1)), Npy("b.npy", Floats({1, 2}, 3)),
                            Npy("c.npy", Floats({2, 2}, 5))},
                           {FloatInput("x", {2, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 4);
  EXPECT_THAT(Read(samples, 0)[0].values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Read(samples, 1)[0].values<float>(), ElementsAre(5, 6, 7, 8));
}

TEST(SampleFiles, NameEqualsFileGivesOneInput) {
  const std::vector<SampleInput> inputs = {FloatInput("x", {1, 2}), FloatInput("a/b:0", {1})};
  const auto samples =
      Cut({Npy("#0:x=p.npy", Floats({2, 2}, 1)), Npz({{"any", Floats({2}, 9)}}, "#1:a/b:0=q.npz")},
          inputs);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(First(samples, 1, 1), 10);
  const auto mixed =
      Cut({Npy("#0:x=p.npy", Floats({2, 2}, 1)), Npy("#1/q.npy", Floats({2}, 1))}, inputs);
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("NAME=FILE"));
}

TEST(SampleFiles, AnArrayOfAnInputThatIsMissingNamesThoseThatAreThere) {
  const auto samples =
      Cut({Npz({{"a", Floats({1}, 1)}, {"b", Floats({1}, 1)}})}, {FloatInput("x", {1})});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().message, "samples: 'd.npz' has no array for input 'x'; it has a, b");
}

TEST(SampleFiles, CastConvertsFloat64AndUint8ToTheInputsType) {
  const SampleOptions cast{.cast = true};
  const auto doubles = Cut({Npy("a.npy", ir::Tensor::Of<double>({1, 2}, {0.1, -2}))},
                           {FloatInput("x", {1, 2})}, cast);
  ASSERT_TRUE(doubles) << doubles.error().message;
  EXPECT_THAT(Read(doubles, 0)[0].values<float>(), ElementsAre(0.1f, -2.0f));
  const auto bytes = Cut({Npy("a.npy", ir::Tensor::Of<uint8_t>({1, 2}, {0, 255}))},
                         {FloatInput("x", {1, 2})}, cast);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_THAT(Read(bytes, 0)[0].values<float>(), ElementsAre(0.0f, 255.0f));
  const auto ids = Cut({Npy("a.npy", ir::Tensor::Ints({3, 300}).Reshaped({1, 2}))},
                       {Input("x", ir::DType::kU8, {1, 2})}, cast);
  ASSERT_TRUE(ids) << ids.error().message;
  const auto read = ids->batches.Read(0, {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "samples: element 1 of 'a.npy' is 300, which uint8 cannot hold");
  const auto floats =
      Cut({Npy("a.npy", Floats({1, 2}, 1))}, {Input("x", ir::DType::kI64, {1, 2})}, cast);
  ASSERT_FALSE(floats);
  EXPECT_THAT(floats.error().message, HasSubstr("takes int64, but its array 'a.npy' is float32"));
}

TEST(SampleFiles, WithoutCastTheErrorNamesIt) {
  const auto doubles =
      Cut({Npy("a.npy", ir::Tensor::Of<double>({1, 2}, {0.1, -2}))}, {FloatInput("x", {1, 2})});
  ASSERT_FALSE(doubles);
  EXPECT_EQ(
      doubles.error().message,
      "samples: input 'x' takes float32, but its array 'a.npy' is float64; --cast converts it");
}

TEST(SampleFiles, SamplesTakesTheFirst) {
  const NamedBlob data = Npy("a.npy", Floats({5, 2}, 1));
  const auto three = Cut({data}, {FloatInput("x", {1, 2})}, {.samples = 3});
  ASSERT_TRUE(three);
  EXPECT_EQ(three->count, 3);
  const auto whole_batches =
      Cut({Npy("a.npy", Floats({6, 2}, 1))}, {FloatInput("x", {2, 2})}, {.samples = 5});
  ASSERT_TRUE(whole_batches);
  EXPECT_EQ(whole_batches->count, 4);
  EXPECT_EQ(Cut({{"random:1:9", {}}}, {FloatInput("x", {1, 2})}, {.samples = 4})->count, 4);
  EXPECT_EQ(Cut({data}, {FloatInput("x", {5, 2})}, {.samples = 3}).error().code, Code::kUsage);
}

TEST(SampleFiles, LabelsAreOnePerSample) {
  const NamedBlob data = Npy("a.npy", Floats({3, 2}, 1));
  const auto samples = Cut({data, Npy("labels:l.npy", ir::Tensor::Of<int32_t>({3}, {4, 5, 6}))},
                           {FloatInput("x", {1, 2})}, {.samples = 2});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_THAT(*samples->labels, ElementsAre(4, 5));
  const auto few =
      Cut({data, Npy("labels:l.npy", ir::Tensor::Ints({1, 2}))}, {FloatInput("x", {1, 2})});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message, "samples: there are 2 labels, but 3 samples");
  EXPECT_FALSE(Cut({data, Npy("labels:l.npy", Floats({3}, 1))}, {FloatInput("x", {1, 2})}));
}

TEST(SampleFiles, AnArchiveHoldsTheFilesOfAFolder) {
  const auto archive = PackZip({{"0/x.npy", Npy("", Floats({1, 2}, 1)).bytes},
                                {"1/x.npy", Npy("", Floats({1, 2}, 3)).bytes},
                                {"notes.txt", Blob(std::string("hello"))}});
  ASSERT_TRUE(archive) << archive.error().message;
  const auto samples = Cut({{"s.zip", *archive}}, {FloatInput("x", {1, 2})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 2);
  EXPECT_EQ(First(samples, 1), 3);
  EXPECT_EQ(First(samples, 0), 1);
  const auto again = PackZip({{"0/x.npy", Npy("", Floats({1, 2}, 1)).bytes},
                              {"1/x.npy", Npy("", Floats({1, 2}, 3)).bytes},
                              {"notes.txt", Blob(std::string("hello"))}});
  EXPECT_EQ(archive->text(), again->text());
}

TEST(SampleFiles, NamesAreReadAsTheyAreWritten) {
  for (const SampleName& name :
       {SampleName{.path = "a=b.npy"}, SampleName{.set = 3, .path = "0/x.npy"},
        SampleName{.set = 1, .input = "a/b:0", .path = "c=d.npy"}}) {
    const SampleName read = ParseSampleName(BlobName(name, name.set > 0));
    EXPECT_EQ(read.set, name.set);
    EXPECT_EQ(read.input, name.input);
    EXPECT_EQ(read.path, name.path);
  }
}

TEST(SampleFiles, AnElementOfABatchHasAFileAndAPlaceInIt) {
  const auto samples =
      Cut({Npz({{"x", Floats({1, 2}, 1)}}), Npz({{"x", Floats({3, 2}, 3)}}, "e.npz")},
          {FloatInput("x", {2, 2})});
  ASSERT_TRUE(samples && samples->origin);
  const SampleOrigin origin = samples->origin(1, 0, 3);
  EXPECT_EQ(origin.file, "e.npz");
  EXPECT_EQ(origin.array, "x");
  EXPECT_THAT(origin.shape, ElementsAre(3, 2));
  EXPECT_EQ(origin.first, 5);
  EXPECT_EQ(samples->origin(0, 0).file, "d.npz");
  EXPECT_FALSE(Cut({{"random:1", {}}}, {FloatInput("x", {2, 2})})->origin);
}

// Resident bytes of this process.
int64_t Resident() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

class Streaming : public testing::TestWithParam<const char*> {};

// 512 MiB of samples in a file: a batch is in memory, not the file's pages.
TEST_P(Streaming, SamplesFromFilesAreNeverHeldWhole) {
  constexpr int64_t kSamples = 512, kElements = 1 << 18;
  Spool spool;
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (512, 262144), }";
  head.resize(117, ' ');
  head += '\n';
  head = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head;
  ASSERT_TRUE(spool.Append(std::as_bytes(std::span(head))));
  const std::vector<float> row(kElements, 1.0f);
  for (int64_t i = 0; i < kSamples; ++i) {
    ASSERT_TRUE(spool.Append(std::as_bytes(std::span(row))));
  }
  Blob bytes = spool.Finish().value();
  std::string name = GetParam();
  if (name.ends_with(".npz")) bytes = PackZip({{"x.npy", bytes}}).value();
  const auto samples = Cut({{name, bytes}}, {FloatInput("x", {1, kElements})});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->batches.size(), kSamples);
  const int64_t before = Resident();
  int64_t most = 0;
  for (int64_t b = 0; b < kSamples; ++b) {
    ASSERT_EQ(Read(samples, b)[0].size(), kElements);
    most = std::max(most, Resident() - before);
  }
  EXPECT_LT(most, 64 << 20);
}

INSTANTIATE_TEST_SUITE_P(Files, Streaming, testing::Values("x.npy", "x.npz"),
                         [](const auto& at) { return std::string(at.param).substr(2); });

TEST(SampleFiles, AStopIsHeardWhileReadingAndConverting) {
  const NamedBlob data = Npy("a.npy", ir::Tensor(ir::DType::kF64, {1, 1 << 23}));
  const auto samples = Cut({data}, {FloatInput("x", {1, 1 << 23})}, {.cast = true});
  ASSERT_TRUE(samples);
  // Time of this process's own: others may have the machine.
  const std::clock_t begin = std::clock();
  const StopToken stop(StopToken::Clock::now() + std::chrono::milliseconds(1));
  const auto stopped = samples->batches.Read(0, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kDeadlineExceeded);
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 10);
}

}  // namespace
}  // namespace octavo::data

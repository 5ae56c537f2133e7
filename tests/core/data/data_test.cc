// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <zlib.h>

#include <chrono>

#include "core/data/npy.h"
#include "core/data/npz.h"
#include "core/data/samples.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Header(const std::string& descr, const std::string& order, const std::string& shape) {
  const std::string text =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
}

TEST(Npy, WhatIsWrittenIsRead) {
  for (const ir::Tensor& tensor :
       {ir::Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), ir::Tensor::Of<int8_t>({3}, {-1, 0, 1}),
        ir::Tensor::Scalar<int64_t>(7), ir::Tensor(ir::DType::kU16, {0, 4})}) {
    const auto read = ReadNpy("a", Blob(WriteNpy(tensor)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, tensor);
  }
}

TEST(Npy, HeaderIsPaddedAsNumpyDoes) {
  EXPECT_EQ(WriteNpy(ir::Tensor::Of<float>({1}, {1})).size(), 128u + 4);
}

TEST(Npy, FortranOrderIsBroughtIntoRows) {
  const std::string bytes = Header("|u1", "True", "(2, 3)") + std::string("\1\2\3\4\5\6", 6);
  const auto read = ReadNpy("a", Blob(bytes));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->ToInts(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, BigEndianIsSwapped) {
  const auto read =
      ReadNpy("a", Blob(Header(">i2", "False", "(2,)") + std::string("\1\2\xff\xfe", 4)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->ToInts(), ElementsAre(258, -2));
}

TEST(Npy, HostileHeadersAreRefused) {
  const std::string good = Header("<f4", "False", "(2,)") + std::string(8, '\0');
  ASSERT_TRUE(ReadNpy("a", Blob(good)));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadNpy("a", Blob(good.substr(0, size)))) << size;
  }
  for (const std::string shape :
       {"(1099511627776,)", "(4611686018427387904, 4)",
        "(0, 9223372036854775807, 9223372036854775807)", "(-2,)", "(2", "2", "(2, x)", "((2,),)"}) {
    const auto read = ReadNpy("a", Blob(Header("<f4", "False", shape) + std::string(8, '\0')));
    ASSERT_FALSE(read) << shape;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument) << shape;
  }
  EXPECT_EQ(ReadNpy("a", Blob(Header("|O", "False", "(2,)"))).error().code, Code::kUnimplemented);
}

TEST(Npz, WhatIsWrittenIsRead) {
  const std::vector<std::pair<std::string, ir::Tensor>> arrays = {
      {"x", ir::Tensor::Of<float>({2}, {1, 2})}, {"y", ir::Tensor::Ints({3})}};
  const auto read = ReadNpz("d.npz", Blob(WriteNpz(arrays)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at("x"), arrays[0].second);
  EXPECT_EQ(read->at("y"), arrays[1].second);
}

TEST(Npz, EveryPrefixAndAFlippedByteAreRefused) {
  const std::string good = WriteNpz({{"x", ir::Tensor::Of<float>({2}, {1, 2})}});
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadNpz("d.npz", Blob(good.substr(0, size)))) << size;
  }
  std::string flipped = good;
  flipped[good.find("NUMPY") + 125] ^= 1;
  EXPECT_THAT(ReadNpz("d.npz", Blob(flipped)).error().message, HasSubstr("checksum"));
}

// Replaces the only member of an archive from WriteNpz by a deflated one.
std::string Deflated(const std::string& npy, uint64_t claimed) {
  std::string packed(compressBound(npy.size()), '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(npy.data()));
  stream.avail_in = static_cast<uInt>(npy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  std::string out;
  const auto put = [&](uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
  };
  const auto common = [&] {
    for (const int half : {20, 0, 8, 0, 0}) put(static_cast<uint64_t>(half), 2);
    put(crc32(0, reinterpret_cast<const Bytef*>(npy.data()), static_cast<uInt>(npy.size())), 4);
    put(packed.size(), 4);
    put(claimed, 4);
    put(5, 2);
    put(0, 2);
  };
  put(0x04034b50, 4);
  common();
  out += "x.npy" + packed;
  const size_t directory = out.size();
  put(0x02014b50, 4);
  put(20, 2);
  common();
  put(0, 8);
  put(0, 2);
  put(0, 4);
  out += "x.npy";
  const size_t end = out.size();
  put(0x06054b50, 4);
  put(0, 4);
  put(1, 2);
  put(1, 2);
  put(end - directory, 4);
  put(directory, 4);
  put(0, 2);
  return out;
}

TEST(Npz, DeflatedMembersAreInflated) {
  const ir::Tensor zeros(ir::DType::kF32, {100000});
  const std::string npy = WriteNpy(zeros);
  const auto read = ReadNpz("d.npz", Blob(Deflated(npy, npy.size())));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at("x"), zeros);
}

TEST(Npz, ABombIsStoppedWhateverItClaims) {
  const std::string npy = WriteNpy(ir::Tensor(ir::DType::kU8, {50 << 20}));
  const auto honest = ReadNpz("d.npz", Blob(Deflated(npy, npy.size())), {.bytes = 1 << 20});
  ASSERT_FALSE(honest);
  EXPECT_EQ(honest.error().code, Code::kTooLarge);
  const auto lying = ReadNpz("d.npz", Blob(Deflated(npy, 1000)), {.bytes = 1 << 20});
  ASSERT_FALSE(lying);
  EXPECT_EQ(lying.error().code, Code::kInvalidArgument);
}

// ---------------------------------------------------------------- samples

Result<ir::Tensor> NoProto(const Blob&) {
  return Fail(Code::kInvalidArgument, "no TensorProto here");
}

Result<Samples> Cut(const std::vector<NamedBlob>& blobs, const std::vector<SampleInput>& inputs) {
  OCTAVO_TRY(const SampleSource source, SampleSource::Open(blobs, NoProto));
  return CutSamples(source, inputs);
}

ir::Batches::Batch Read(const Result<Samples>& samples, int64_t batch) {
  return samples->batches.Read(batch, {}).value();
}

SampleInput FloatInput(const std::string& name, ir::Shape shape) {
  return {.name = name, .type = {ir::DType::kF32, std::move(shape), {}, {}}};
}

NamedBlob Npz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays) {
  return {"d.npz", Blob(WriteNpz(arrays))};
}

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
  EXPECT_EQ(samples.error().message, "samples: input 'ids' takes int32, but its array is int64");
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

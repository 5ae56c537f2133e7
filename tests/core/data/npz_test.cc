// SPDX-License-Identifier: Apache-2.0
#include "core/data/npz.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <chrono>

#include "core/data/npy.h"

namespace octavo::data {
namespace {

using testing::HasSubstr;

Result<std::map<std::string, ir::Tensor>> ReadAll(const std::string& archive) {
  OCTAVO_TRY(const auto arrays, OpenNpz("d.npz", Blob(archive)));
  std::map<std::string, ir::Tensor> tensors;
  for (const auto& [name, array] : arrays) {
    OCTAVO_TRY(tensors[name], ReadWhole(*array));
  }
  return tensors;
}

TEST(Npz, WhatIsWrittenIsRead) {
  const std::vector<std::pair<std::string, ir::Tensor>> arrays = {
      {"x", ir::Tensor::Of<float>({2}, {1, 2})}, {"y", ir::Tensor::Ints({3})}};
  const auto read = ReadAll(WriteNpz(arrays).value());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at("x"), arrays[0].second);
  EXPECT_EQ(read->at("y"), arrays[1].second);
}

TEST(Npz, EveryPrefixAndAFlippedByteAreRefused) {
  const std::string good = WriteNpz({{"x", ir::Tensor::Of<float>({2}, {1, 2})}}).value();
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadAll(good.substr(0, size))) << size;
  }
  std::string flipped = good;
  flipped[good.find("NUMPY") + 125] ^= 1;
  const auto read = ReadAll(flipped);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  EXPECT_THAT(read.error().message, HasSubstr("checksum"));
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
  const auto read = ReadAll(Deflated(npy, npy.size()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at("x"), zeros);
}

// Whatever an archive claims, a member is inflated only as far as it is read.
TEST(Npz, AMemberIsReadInPartsAndALieIsRefused) {
  const std::string npy = WriteNpy(ir::Tensor(ir::DType::kU8, {50 << 20}));
  const auto honest = OpenNpz("d.npz", Blob(Deflated(npy, npy.size())));
  ASSERT_TRUE(honest) << honest.error().message;
  std::vector<std::byte> part(16);
  EXPECT_TRUE(honest->at("x")->Read((50 << 20) - 16, part, {}));
  EXPECT_TRUE(honest->at("x")->Read(0, part, {}));
  for (const uint64_t claimed : {uint64_t{1000}, npy.size() - 1, npy.size() + 1}) {
    const auto lying = ReadAll(Deflated(npy, claimed));
    ASSERT_FALSE(lying) << claimed;
    EXPECT_EQ(lying.error().code, Code::kInvalidArgument);
  }
}

TEST(Npz, AStopIsHeardWhileAMemberIsInflated) {
  const std::string npy = WriteNpy(ir::Tensor(ir::DType::kU8, {200 << 20}));
  const auto read = OpenNpz("d.npz", Blob(Deflated(npy, npy.size())));
  ASSERT_TRUE(read) << read.error().message;
  std::vector<std::byte> part(16);
  const StopToken stop(StopToken::Clock::now() + std::chrono::milliseconds(5));
  const auto stopped = read->at("x")->Read((200 << 20) - 16, part, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace octavo::data

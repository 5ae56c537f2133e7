// SPDX-License-Identifier: Apache-2.0
// The bounds of a message, checked before protobuf converts it.
#include "server/convert/message_check.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "octavo/v1/optimizer.pb.h"
#include "server/convert/request.h"

namespace octavo::server {
namespace {

Status Check(const std::string& bytes, const MessageBounds& bounds = {}) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  return CheckMessage(in, *v1::OptimizeRequest::descriptor()->FindFieldByName("spec"), bounds);
}

TEST(MessageCheck, ASpecWithinItsBoundsPasses) {
  v1::OptimizeRequest request;
  for (int i = 0; i < 4096; ++i) request.mutable_spec()->add_blobs()->set_name("x");
  for (int i = 0; i < 4095; ++i) request.mutable_spec()->mutable_options()->add_skip("p");
  (*request.mutable_spec()->mutable_options()->mutable_shape())["x"].add_dims(1);
  EXPECT_TRUE(Check(request.SerializeAsString()));
}

TEST(MessageCheck, NamesOfAllListsCountTogether) {
  v1::OptimizeRequest request;
  for (int i = 0; i < 3000; ++i) request.mutable_spec()->mutable_options()->add_skip("");
  for (int i = 0; i < 2000; ++i) request.mutable_spec()->mutable_options()->add_weights_only("");
  const Status status = Check(request.SerializeAsString());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().field, "spec.options.weights_only");
  EXPECT_EQ(status.error().reason, "INVALID_SPEC");
  EXPECT_EQ(status.error().message,
            "spec.options.weights_only: more than 4096 names in all lists together");
}

TEST(MessageCheck, BlobsAreCounted) {
  v1::OptimizeRequest request;
  for (int i = 0; i < 4097; ++i) request.mutable_spec()->add_blobs();
  const Status status = Check(request.SerializeAsString());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "spec.blobs: more than 4096 elements");
}

TEST(MessageCheck, ASpecOfMoreThanOneMebibyteIsRefusedEvenInParts) {
  v1::OptimizeRequest request;
  request.mutable_spec()->mutable_options()->set_target(std::string(600 << 10, 't'));
  const std::string bytes = request.SerializeAsString();
  EXPECT_TRUE(Check(bytes));
  const Status status = Check(bytes + bytes);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "spec: more than 1048576 bytes");
}

TEST(MessageCheck, AChunkIsNotBounded) {
  v1::OptimizeRequest request;
  request.mutable_chunk()->set_data(std::string(3 << 20, 'c'));
  EXPECT_TRUE(Check(request.SerializeAsString()));
}

TEST(MessageCheck, UnknownFieldsAreCounted) {
  std::string inner;
  for (int i = 0; i < 4097; ++i) inner += "\x78\x01";  // field 15, a varint
  std::string bytes = "\x0a";
  for (size_t size = inner.size(); size > 0; size >>= 7) {
    bytes += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
  }
  const Status status = Check(bytes + inner);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "spec: more than 4096 unknown fields");
}

TEST(MessageCheck, WhatIsNoMessageIsMalformed) {
  v1::OptimizeRequest request;
  request.mutable_spec()->add_blobs()->set_name("model");
  const std::string whole = request.SerializeAsString();
  for (size_t size = 1; size < whole.size(); ++size) {
    const Status status = Check(whole.substr(0, size));
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().reason, "MALFORMED");
  }
  EXPECT_FALSE(Check("\x0b\x0c"));                      // a group
  EXPECT_FALSE(Check(std::string(20, '\xff')));         // a tag without end
  EXPECT_FALSE(Check("\x0a\x02\x0b\x0c"));              // a group in the spec
  EXPECT_FALSE(Check("\x0a\xff\xff\xff\xff\xff\x01"));  // a length beyond 4 GiB
}

TEST(ReadRequest, GarbageIsMalformedWithItsNumberInTheStream) {
  grpc::Slice slice(std::string(100, '\xff'));
  grpc::ByteBuffer bytes(&slice, 1);
  const auto request = ReadRequest(bytes, 3);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().reason, "MALFORMED");
  EXPECT_EQ(request.error().message,
            "message 3 of the call is not a valid octavo.v1.OptimizeRequest");
}

}  // namespace
}  // namespace octavo::server

// SPDX-License-Identifier: Apache-2.0
// Converts the messages of the service Blobs between their bytes and plain structs.  Requests are
// checked against MessageBounds before protobuf converts them: kInvalidArgument, MALFORMED or
// INVALID_SPEC.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <variant>
#include <vector>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "server/blobs/blob_read.h"
#include "server/store/blob_store.h"

namespace octavo::server {

struct WrittenChunk {
  uint64_t offset = 0;
  std::string bytes = {};
};
using WriteMessage = std::variant<BlobDigest, WrittenChunk>;

Result<std::vector<BlobDigest>> ReadFindMissing(const grpc::ByteBuffer& bytes);
Result<BlobDigest> ReadQueryWrite(const grpc::ByteBuffer& bytes);
// `number` is the message's place in the stream, from 1, for the error.
Result<WriteMessage> ReadWrite(const grpc::ByteBuffer& bytes, int number);
Result<BlobRange> ReadRange(const grpc::ByteBuffer& bytes);

grpc::ByteBuffer MissingToBytes(const std::vector<BlobDigest>& missing);
grpc::ByteBuffer StateToBytes(const BlobWriteState& state);
grpc::ByteBuffer StoredToBytes(uint64_t size_bytes);
grpc::ByteBuffer DataToBytes(const Blob& data);

}  // namespace octavo::server

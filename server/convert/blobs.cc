// SPDX-License-Identifier: Apache-2.0
#include "server/convert/blobs.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <climits>
#include <utility>

#include "octavo/v1/blobs.pb.h"
#include "server/convert/message_check.h"

namespace octavo::server {
namespace {

template <class Message>
Failure Malformed(int number) {
  return Fail(Code::kInvalidArgument, "message {} of the call is not a valid {}", number,
              Message::descriptor()->full_name())
      .Field("request")
      .Reason("MALFORMED");
}

template <class Message>
Result<Message> Parse(const grpc::ByteBuffer& bytes, int number = 1) {
  grpc::ByteBuffer copy = bytes;  // shares the bytes; reading consumes a buffer
  {
    grpc::ProtoBufferReader reader(&copy);
    const size_t size = bytes.Length();
    const auto ok = size > INT_MAX ? Status(Malformed<Message>(number))
                                   : CheckWholeMessage(reader, static_cast<uint32_t>(size),
                                                       *Message::descriptor(), {});
    if (!ok) {
      if (ok.error().reason == "MALFORMED") return Malformed<Message>(number);
      return tl::unexpected(ok.error());
    }
  }
  Message message;
  if (!grpc::SerializationTraits<Message>::Deserialize(&copy, &message).ok()) {
    return Malformed<Message>(number);
  }
  return message;
}

template <class Message>
grpc::ByteBuffer ToBytes(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  // Fails only for messages over 2 GiB; a chunk has 1 MiB.
  (void)grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own);
  return bytes;
}

BlobDigest FromWire(const v1::Digest& wire) {
  return {.sha256 = wire.sha256(), .size_bytes = wire.size_bytes()};
}

}  // namespace

Result<std::vector<BlobDigest>> ReadFindMissing(const grpc::ByteBuffer& bytes) {
  OCTAVO_TRY(const auto request, Parse<v1::FindMissingBlobsRequest>(bytes));
  std::vector<BlobDigest> digests;
  digests.reserve(static_cast<size_t>(request.digests_size()));
  for (const v1::Digest& digest : request.digests()) digests.push_back(FromWire(digest));
  return digests;
}

Result<BlobDigest> ReadQueryWrite(const grpc::ByteBuffer& bytes) {
  OCTAVO_TRY(const auto request, Parse<v1::QueryBlobWriteRequest>(bytes));
  return FromWire(request.digest());
}

Result<WriteMessage> ReadWrite(const grpc::ByteBuffer& bytes, int number) {
  OCTAVO_TRY(auto request, Parse<v1::WriteBlobRequest>(bytes, number));
  switch (request.request_case()) {
    case v1::WriteBlobRequest::kDigest:
      return FromWire(request.digest());
    case v1::WriteBlobRequest::kChunk:
      if (request.chunk().blob() != 0) {
        return Fail(Code::kInvalidArgument, "a chunk of blob {}; the call has one blob, 0",
                    request.chunk().blob())
            .Field("chunk.blob")
            .Reason("INVALID_CHUNK");
      }
      return WrittenChunk{.offset = request.chunk().offset(),
                          .bytes = std::move(*request.mutable_chunk()->mutable_data())};
    case v1::WriteBlobRequest::REQUEST_NOT_SET:
      break;
  }
  return Fail(Code::kInvalidArgument, "a request has neither a digest nor a chunk")
      .Field("request")
      .Reason("INVALID_SPEC");
}

Result<BlobRange> ReadRange(const grpc::ByteBuffer& bytes) {
  OCTAVO_TRY(const auto request, Parse<v1::ReadBlobRequest>(bytes));
  return BlobRange{
      .digest = FromWire(request.digest()), .offset = request.offset(), .limit = request.limit()};
}

grpc::ByteBuffer MissingToBytes(const std::vector<BlobDigest>& missing) {
  v1::FindMissingBlobsResponse response;
  for (const BlobDigest& digest : missing) {
    v1::Digest& wire = *response.add_missing_digests();
    wire.set_sha256(digest.sha256);
    wire.set_size_bytes(digest.size_bytes);
  }
  return ToBytes(response);
}

grpc::ByteBuffer StateToBytes(const BlobWriteState& state) {
  v1::QueryBlobWriteResponse response;
  response.set_committed_bytes(state.committed_bytes);
  response.set_complete(state.complete);
  return ToBytes(response);
}

grpc::ByteBuffer StoredToBytes(uint64_t size_bytes) {
  v1::WriteBlobResponse response;
  response.set_size_bytes(size_bytes);
  return ToBytes(response);
}

grpc::ByteBuffer DataToBytes(const Blob& data) {
  v1::ReadBlobResponse response;
  response.set_data(data.text().data(), data.size());
  return ToBytes(response);
}

}  // namespace octavo::server

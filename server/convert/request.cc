// SPDX-License-Identifier: Apache-2.0
#include "server/convert/request.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>

#include "server/convert/message_check.h"
#include "server/convert/spec.h"

namespace octavo::server {
namespace {

Failure Malformed(int number) {
  return Fail(Code::kInvalidArgument,
              "message {} of the call is not a valid octavo.v1.OptimizeRequest", number)
      .Field("request")
      .Reason("MALFORMED");
}

}  // namespace

Result<v1::OptimizeRequest> ReadRequest(grpc::ByteBuffer& bytes, int number) {
  static const auto& spec = *v1::OptimizeRequest::descriptor()->FindFieldByName("spec");
  {
    grpc::ProtoBufferReader reader(&bytes);
    if (auto ok = CheckMessage(reader, spec, {}); !ok) {
      if (ok.error().reason == "MALFORMED") return Malformed(number);
      return Forward(std::move(ok).error());
    }
  }
  v1::OptimizeRequest request;
  if (!grpc::SerializationTraits<v1::OptimizeRequest>::Deserialize(&bytes, &request).ok()) {
    return Malformed(number);
  }
  return request;
}

grpc::ByteBuffer BytesOf(Event event) {
  grpc::ByteBuffer bytes;
  bool own = false;
  // Fails only for messages over 2 GiB; a chunk has 1 MiB.
  (void)grpc::SerializationTraits<v1::OptimizeEvent>::Serialize(EventToWire(std::move(event)),
                                                                &bytes, &own);
  return bytes;
}

}  // namespace octavo::server

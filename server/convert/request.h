// SPDX-License-Identifier: Apache-2.0
// Converts the messages of Optimizer.Optimize between their bytes and protobuf.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "core/base/status.h"
#include "octavo/v1/optimizer.pb.h"
#include "server/session/event.h"

namespace octavo::server {

// Checks the message against MessageBounds before it converts it.  `number` is its place in the
// stream, from 1, for the error: kInvalidArgument, MALFORMED or INVALID_SPEC.
Result<v1::OptimizeRequest> ReadRequest(grpc::ByteBuffer& bytes, int number);

grpc::ByteBuffer BytesOf(Event event);

}  // namespace octavo::server

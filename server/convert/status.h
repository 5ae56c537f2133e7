// SPDX-License-Identifier: Apache-2.0
// Converts an error to the status of a call: google.rpc.Status with ErrorInfo{reason, "octavo",
// {node, field}}, with BadRequest if a field of the request is wrong, and with RetryInfo if a retry
// may succeed.
#pragma once

#include <grpcpp/support/status.h>

#include "google/rpc/status.pb.h"
#include "server/session/event.h"

namespace octavo::server {

grpc::StatusCode StatusCodeOf(Code code);
// The reason decides where it has a status of its own.
grpc::StatusCode StatusCodeOf(const Error& error);
// The message that goes with the status of a call, or with a job.
google::rpc::Status StatusMessage(const CallStatus& status);
grpc::Status StatusFrom(const CallStatus& status);

}  // namespace octavo::server

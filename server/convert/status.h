// From an error to the status of a call: google.rpc.Status with ErrorInfo{reason, "octavo",
// {node, field}}, BadRequest for a field of the request, RetryInfo where trying again may help.
#pragma once

#include <grpcpp/support/status.h>

#include "server/session/event.h"

namespace octavo::server {

grpc::StatusCode StatusCodeOf(Code code);
grpc::Status StatusFrom(const Ending& ending);

}  // namespace octavo::server

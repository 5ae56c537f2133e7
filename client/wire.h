// SPDX-License-Identifier: Apache-2.0
// Converts requests to protobuf messages and statuses to errors.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <vector>

#include "core/job/job.h"
#include "octavo/v1/optimizer.pb.h"

namespace octavo::client {

// The spec of a request, and its blobs in the order of the spec.
struct Submission {
  v1::Spec spec = {};
  std::vector<Blob> blobs = {};
  uint64_t total_bytes = 0;
};
Result<Submission> Pack(const job::Request& request, const StopToken& stop = {});

// The error of a failed call, and the service's retry delay, if any.
struct CallFailure {
  Error error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
};
CallFailure FailureFrom(const grpc::Status& status);

}  // namespace octavo::client

// SPDX-License-Identifier: Apache-2.0
// Converts requests and errors to and from messages.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <vector>

#include "core/job/job.h"
#include "octavo/v1/optimizer.pb.h"

namespace octavo::client {

// The spec of a request, and the bytes of its blobs in the spec's order.
struct Submission {
  v1::Spec spec = {};
  std::vector<Blob> blobs = {};
  uint64_t total_bytes = 0;
};
Submission Pack(const job::Request& request);

// A failed call, and the pause before a retry that the service requested.
struct CallFailure {
  Error error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
};
CallFailure FailureFrom(const grpc::Status& status);

}  // namespace octavo::client

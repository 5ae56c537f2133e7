// Between the job's terms and the wire's.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <vector>

#include "core/job/job.h"
#include "octavo/v1/optimizer.pb.h"

namespace octavo::client {

v1::Options OptionsToWire(const job::Options& options);

// The spec of a request, and the bytes of its blobs in the spec's order.
struct Parcel {
  v1::Spec spec = {};
  std::vector<Blob> blobs = {};
  uint64_t total_bytes = 0;
};
Parcel Pack(const job::Request& request);

// A call that failed, and when the service would like to be asked again.
struct CallFailure {
  Error error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
};
CallFailure FailureFrom(const grpc::Status& status);

}  // namespace octavo::client

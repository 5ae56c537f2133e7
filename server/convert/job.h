// SPDX-License-Identifier: Apache-2.0
// Converts the messages of octavo.v1.Jobs.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <chrono>

#include "core/base/status.h"
#include "octavo/v1/jobs.pb.h"
#include "server/session/job_board.h"

namespace octavo::server {

// A spec may have 1 MiB: lists and events have its model's name alone.
enum class SpecPart { kWhole, kModel };
// `kept` is how long the journal keeps a job that has ended.
v1::Job JobToWire(const JobView& view, std::chrono::milliseconds kept, SpecPart part);

// Checks the bytes against MessageBounds before it converts them.  MALFORMED or INVALID_SPEC.
Result<v1::SubmitJobRequest> ReadSubmitRequest(grpc::ByteBuffer& bytes);
Result<JobFilter> FilterOf(const v1::ListJobsRequest& request);

// The spec as the journal keeps it, and back.
Result<JobSpec> ReadSpecBytes(const std::string& bytes);

}  // namespace octavo::server

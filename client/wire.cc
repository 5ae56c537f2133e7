// SPDX-License-Identifier: Apache-2.0
#include "client/wire.h"

#include <algorithm>
#include <span>

#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/job/options_wire.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace octavo::client {
namespace {

// Between two looks at a stop.
constexpr size_t kHashedPart = size_t{16} << 20;

Result<std::string> DigestOf(std::span<const std::byte> bytes, const StopToken& stop) {
  Sha256 hash;
  while (!bytes.empty()) {
    OCTAVO_CHECK(stop.Check());
    const std::span<const std::byte> part = bytes.first(std::min(kHashedPart, bytes.size()));
    hash.Update(part);
    ReleasePages(part);
    bytes = bytes.subspan(part.size());
  }
  return hash.Finish();
}

Status Add(Submission& submission, v1::BlobInfo::Role role, const job::NamedBlob& blob,
           const StopToken& stop) {
  v1::BlobInfo& info = *submission.spec.add_blobs();
  info.set_role(role);
  info.set_name(blob.name);
  info.set_size_bytes(blob.bytes.size());
  OCTAVO_TRY(*info.mutable_sha256(), DigestOf(blob.bytes.bytes(), stop));
  submission.blobs.push_back(blob.bytes);
  submission.total_bytes += blob.bytes.size();
  return {};
}

Code CodeFrom(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::NOT_FOUND:
      return Code::kUsage;
    case grpc::StatusCode::INVALID_ARGUMENT:
      return Code::kInvalidArgument;
    case grpc::StatusCode::UNIMPLEMENTED:
      return Code::kUnimplemented;
    case grpc::StatusCode::UNAVAILABLE:
      return Code::kUnavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Code::kDeadlineExceeded;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Code::kResourceExhausted;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return Code::kTooLarge;
    case grpc::StatusCode::CANCELLED:
      return Code::kCancelled;
    case grpc::StatusCode::ABORTED:
      return Code::kAborted;
    default:
      return Code::kInternal;
  }
}

void ReadErrorInfo(const google::rpc::ErrorInfo& info, Error& error) {
  if (info.domain() != "octavo") return;
  error.reason = info.reason();
  const auto& metadata = info.metadata();
  if (const auto it = metadata.find("node"); it != metadata.end()) error.node = it->second;
  if (const auto it = metadata.find("field"); it != metadata.end()) error.field = it->second;
}

}  // namespace

Result<Submission> Pack(const job::Request& request, const StopToken& stop) {
  Submission submission;
  *submission.spec.mutable_options() = job::OptionsToWire(request.options);
  OCTAVO_CHECK(Add(submission, v1::BlobInfo::ROLE_MODEL, request.model, stop));
  for (const auto& blob : request.external_data) {
    OCTAVO_CHECK(Add(submission, v1::BlobInfo::ROLE_EXTERNAL, blob, stop));
  }
  if (request.profile) {
    OCTAVO_CHECK(Add(submission, v1::BlobInfo::ROLE_PROFILE, *request.profile, stop));
  }
  for (const auto& blob : request.samples) {
    OCTAVO_CHECK(Add(submission, v1::BlobInfo::ROLE_SAMPLES, blob, stop));
  }
  if (request.target) {
    OCTAVO_CHECK(Add(submission, v1::BlobInfo::ROLE_TARGET, *request.target, stop));
  }
  return submission;
}

CallFailure FailureFrom(const grpc::Status& status) {
  CallFailure failure;
  failure.error.code = CodeFrom(status.error_code());
  failure.error.message = status.error_message();
  failure.error.reason = DefaultReason(failure.error.code);
  google::rpc::Status details;
  const bool parsed = details.ParseFromString(status.error_details());
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && details.details().empty()) {
    // gRPC's own words, or none: the deadline passed here before the service could say anything.
    failure.error.message = "the deadline of the call passed";
    failure.error.reason = "CLIENT_DEADLINE";
  }
  if (!parsed) return failure;
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (any.UnpackTo(&info)) {
      ReadErrorInfo(info, failure.error);
    } else if (any.UnpackTo(&retry)) {
      failure.retry_after = std::chrono::milliseconds(retry.retry_delay().seconds() * 1000 +
                                                      retry.retry_delay().nanos() / 1'000'000);
    }
  }
  // The service returns INVALID_ARGUMENT for a wrong model and for a wrong option; the reason
  // distinguishes them.
  if (failure.error.reason == DefaultReason(Code::kUsage)) failure.error.code = Code::kUsage;
  // INTERNAL and FAILED_PRECONDITION have other causes besides.
  if (failure.error.reason == DefaultReason(Code::kAborted) || failure.error.reason == "POISONED") {
    failure.error.code = Code::kAborted;
  }
  return failure;
}

}  // namespace octavo::client

// SPDX-License-Identifier: Apache-2.0
#include "server/convert/status.h"

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace octavo::server {
namespace {

// Trailing metadata must stay small: clients refuse more than 8 KiB.
constexpr size_t kMaxText = 1024;
constexpr int kMostMissing = 48;

std::string Shortened(std::string text) {
  if (text.size() <= kMaxText) return text;
  size_t end = kMaxText;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // do not split a UTF-8 character
  text.resize(end);
  return text + "...";
}

}  // namespace

grpc::StatusCode StatusCodeOf(const Error& error) {
  // Statuses that only calls about stored things have.
  if (error.reason == "NOT_FOUND") return grpc::StatusCode::NOT_FOUND;
  if (error.reason == "CORRUPT") return grpc::StatusCode::DATA_LOSS;
  return StatusCodeOf(error.code);
}

grpc::StatusCode StatusCodeOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kUsage:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case Code::kUnimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case Code::kResourceExhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Code::kTooLarge:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case Code::kUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case Code::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Code::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case Code::kAborted:  // with reason WORKER_CRASHED
    case Code::kInternal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

namespace {

void AddViolations(const CallStatus& call, google::rpc::Status& status) {
  const Error& error = *call.error;
  if (status.code() == grpc::StatusCode::INVALID_ARGUMENT && !error.field.empty()) {
    google::rpc::BadRequest bad_request;
    auto& violation = *bad_request.add_field_violations();
    violation.set_field(Shortened(error.field));
    violation.set_description(status.message());
    status.add_details()->PackFrom(bad_request);
  }
  if (!call.missing.empty()) {
    google::rpc::PreconditionFailure failure;
    for (const std::string& digest : call.missing) {
      // Trailing metadata must stay small.
      if (failure.violations_size() == kMostMissing) break;
      auto& violation = *failure.add_violations();
      violation.set_type("MISSING");
      violation.set_subject("blobs/" + digest);
    }
    status.add_details()->PackFrom(failure);
  }
}

}  // namespace

google::rpc::Status StatusMessage(const CallStatus& call) {
  google::rpc::Status status;
  if (!call.error) return status;
  const Error& error = *call.error;
  status.set_code(StatusCodeOf(error));
  status.set_message(Shortened(error.message));
  google::rpc::ErrorInfo info;
  info.set_reason(error.reason);
  info.set_domain("octavo");
  if (!error.node.empty()) (*info.mutable_metadata())["node"] = Shortened(error.node);
  if (!error.field.empty()) (*info.mutable_metadata())["field"] = Shortened(error.field);
  status.add_details()->PackFrom(info);
  AddViolations(call, status);
  if (call.retry_after) {
    const int64_t millis = call.retry_after->count();
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(millis / 1000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(millis % 1000) * 1'000'000);
    status.add_details()->PackFrom(retry);
  }
  return status;
}

grpc::Status StatusFrom(const CallStatus& call) {
  if (!call.error) return grpc::Status::OK;
  const google::rpc::Status status = StatusMessage(call);
  return {static_cast<grpc::StatusCode>(status.code()), status.message(),
          status.SerializeAsString()};
}

}  // namespace octavo::server

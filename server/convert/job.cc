// SPDX-License-Identifier: Apache-2.0
#include "server/convert/job.h"

#include <google/protobuf/util/time_util.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <utility>

#include "server/convert/message_check.h"
#include "server/convert/spec.h"
#include "server/convert/status.h"

namespace octavo::server {
namespace {

v1::JobState StateToWire(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return v1::JOB_STATE_QUEUED;
    case JobState::kRunning:
      return v1::JOB_STATE_RUNNING;
    case JobState::kSucceeded:
      return v1::JOB_STATE_SUCCEEDED;
    case JobState::kFailed:
      return v1::JOB_STATE_FAILED;
    case JobState::kCancelled:
      return v1::JOB_STATE_CANCELLED;
  }
  return v1::JOB_STATE_UNSPECIFIED;
}

void SetTime(google::protobuf::Timestamp* out, JobTime time) {
  *out = google::protobuf::util::TimeUtil::MillisecondsToTimestamp(time.time_since_epoch().count());
}

void AddResult(v1::Job& job, const JobRecord& record) {
  for (const ResultBlob& blob : record.result.blobs) {
    v1::BlobInfo& info = *job.add_results();
    info.set_role(static_cast<v1::BlobInfo::Role>(blob.role));
    info.set_name(blob.name);
    info.set_size_bytes(blob.digest.size_bytes);
    info.set_sha256(blob.digest.sha256);
  }
  job.mutable_finished()->set_gate_failed(record.result.gate_failed);
  job.mutable_finished()->set_message(record.result.message);
  job.mutable_finished()->set_action_digest(record.job.action);
}

Failure Malformed() {
  return Fail(Code::kInvalidArgument, "the message is not a valid octavo.v1.SubmitJobRequest")
      .Field("request")
      .Reason("MALFORMED");
}

}  // namespace

v1::Job JobToWire(const JobView& view, std::chrono::milliseconds kept, SpecPart part) {
  const JobRecord& record = view.record;
  v1::Job job;
  job.set_job_id(record.job.job_id);
  job.set_state(StateToWire(record.state));
  job.set_action_digest(record.job.action);
  if (part == SpecPart::kWhole && !record.job.spec.empty()) {
    // The journal has only specs that have been read.
    (void)job.mutable_spec()->ParseFromString(record.job.spec);
  } else {
    v1::BlobInfo& model = *job.mutable_spec()->add_blobs();
    model.set_role(v1::BlobInfo::ROLE_MODEL);
    model.set_name(record.job.model);
  }
  SetTime(job.mutable_create_time(), record.created);
  if (record.started) SetTime(job.mutable_start_time(), *record.started);
  if (record.ended) {
    SetTime(job.mutable_end_time(), *record.ended);
    SetTime(job.mutable_expire_time(), *record.ended + kept);
  }
  job.set_queue_position(view.queue_position);
  v1::Progress& progress = *job.mutable_progress();
  progress.set_stage(record.progress.stage);
  progress.set_pass(record.progress.pass);
  progress.set_done(record.progress.done);
  progress.set_total(record.progress.total);
  progress.set_sequence(record.progress.sequence);
  if (record.error) *job.mutable_error() = StatusMessage({.error = record.error});
  if (record.state == JobState::kSucceeded) AddResult(job, record);
  job.set_attempt(static_cast<uint32_t>(record.attempt));
  job.mutable_labels()->Assign(record.job.labels.begin(), record.job.labels.end());
  job.set_client(record.job.client);
  return job;
}

Result<v1::SubmitJobRequest> ReadSubmitRequest(grpc::ByteBuffer& bytes) {
  static const auto& spec = *v1::SubmitJobRequest::descriptor()->FindFieldByName("spec");
  {
    grpc::ProtoBufferReader reader(&bytes);
    if (auto ok = CheckMessage(reader, spec, {}); !ok) {
      if (ok.error().reason == "MALFORMED") return Malformed();
      return Forward(std::move(ok).error());
    }
  }
  v1::SubmitJobRequest request;
  if (!grpc::SerializationTraits<v1::SubmitJobRequest>::Deserialize(&bytes, &request).ok()) {
    return Malformed();
  }
  return request;
}

Result<JobFilter> FilterOf(const v1::ListJobsRequest& request) {
  JobFilter filter{.label = request.label(), .page_token = request.page_token()};
  if (request.page_size() > 0) {
    filter.page_size =
        static_cast<int>(std::min<uint32_t>(request.page_size(), JobStore::kLargestPage + 1));
  }
  if (request.state() == v1::JOB_STATE_UNSPECIFIED) return filter;
  for (const JobState state : {JobState::kQueued, JobState::kRunning, JobState::kSucceeded,
                               JobState::kFailed, JobState::kCancelled}) {
    if (StateToWire(state) == request.state()) filter.state = state;
  }
  if (!filter.state) {
    return Fail(Code::kUsage, "state {} is not one of octavo.v1.JobState",
                static_cast<int>(request.state()))
        .Field("state");
  }
  return filter;
}

Result<JobSpec> ReadSpecBytes(const std::string& bytes) {
  v1::Spec spec;
  if (!spec.ParseFromString(bytes)) {
    return Fail(Code::kInternal, "the journal has a spec that is not a valid octavo.v1.Spec");
  }
  return SpecFromWire(spec);
}

}  // namespace octavo::server

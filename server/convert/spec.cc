// SPDX-License-Identifier: Apache-2.0
#include "server/convert/spec.h"

#include <algorithm>
#include <utility>

#include "core/job/action_digest.h"
#include "core/job/gates.h"
#include "core/job/job.h"
#include "core/job/options_wire.h"

namespace octavo::server {
namespace {

constexpr int kMostPriority = 10;
constexpr int kMostLabels = 16;
constexpr size_t kMostLabelBytes = 64;

Result<Role> RoleFromWire(v1::BlobInfo::Role role, int index) {
  switch (role) {
    case v1::BlobInfo::ROLE_MODEL:
      return Role::kModel;
    case v1::BlobInfo::ROLE_EXTERNAL:
      return Role::kExternal;
    case v1::BlobInfo::ROLE_PROFILE:
      return Role::kProfile;
    case v1::BlobInfo::ROLE_SAMPLES:
      return Role::kSamples;
    case v1::BlobInfo::ROLE_TARGET:
      return Role::kTarget;
    case v1::BlobInfo::ROLE_OPTIMIZED_MODEL:
      return Role::kOptimizedModel;
    case v1::BlobInfo::ROLE_REPORT:
      return Role::kReport;
    case v1::BlobInfo::ROLE_SNAPSHOT:
      return Role::kSnapshot;
    default:
      break;
  }
  const std::string field = fmt::format("spec.blobs[{}].role", index);
  return Fail(Code::kInvalidArgument, "{}: {} is not a role", field, static_cast<int>(role))
      .Field(field)
      .Reason("INVALID_SPEC");
}

v1::BlobInfo::Role RoleToWire(Role role) {
  switch (role) {
    case Role::kModel:
      return v1::BlobInfo::ROLE_MODEL;
    case Role::kExternal:
      return v1::BlobInfo::ROLE_EXTERNAL;
    case Role::kProfile:
      return v1::BlobInfo::ROLE_PROFILE;
    case Role::kSamples:
      return v1::BlobInfo::ROLE_SAMPLES;
    case Role::kTarget:
      return v1::BlobInfo::ROLE_TARGET;
    case Role::kOptimizedModel:
      return v1::BlobInfo::ROLE_OPTIMIZED_MODEL;
    case Role::kReport:
      return v1::BlobInfo::ROLE_REPORT;
    case Role::kSnapshot:
      return v1::BlobInfo::ROLE_SNAPSHOT;
  }
  return v1::BlobInfo::ROLE_UNSPECIFIED;
}

// Makes the job's own checks, with the same messages, before the upload.
Result<Options> OptionsFromWire(const v1::Options& wire) {
  const auto at_path = [](Error error) {
    error.field = "spec.options." + error.field;
    return Forward(std::move(error));
  };
  auto options = job::OptionsFromWire(wire);
  if (!options) return at_path(std::move(options).error());
  auto status = job::CheckJobOptions(*options);
  if (!status) return at_path(std::move(status).error());
  return options;
}

Status CheckGateSamples(const JobSpec& spec) {
  std::vector<std::string> samples;
  for (const BlobInfo& blob : spec.blobs) {
    if (blob.role == Role::kSamples) samples.push_back(blob.name);
  }
  auto status = job::CheckGateSamples(spec.options, samples);
  if (!status) status.error().field = "spec.options." + status.error().field;
  return status;
}

// Empty for a spec with the role of a result, which CheckSpec refuses.
std::string ActionOf(const JobSpec& spec) {
  std::vector<job::DeclaredInput> inputs;
  for (const BlobInfo& blob : spec.blobs) {
    job::DeclaredInput input{.name = blob.name, .size = blob.size_bytes, .sha256 = blob.sha256};
    switch (blob.role) {
      case Role::kModel:
        input.role = job::InputRole::kModel;
        break;
      case Role::kExternal:
        input.role = job::InputRole::kExternal;
        break;
      case Role::kProfile:
        input.role = job::InputRole::kProfile;
        break;
      case Role::kSamples:
        input.role = job::InputRole::kSamples;
        break;
      case Role::kTarget:
        input.role = job::InputRole::kTarget;
        break;
      case Role::kOptimizedModel:
      case Role::kReport:
      case Role::kSnapshot:
        return {};
    }
    inputs.push_back(std::move(input));
  }
  return job::ActionDigest(spec.options, std::move(inputs));
}

v1::Finished::Source SourceToWire(JobSource source) {
  switch (source) {
    case JobSource::kExecuted:
      return v1::Finished::SOURCE_EXECUTED;
    case JobSource::kCache:
      return v1::Finished::SOURCE_CACHE;
    case JobSource::kJoined:
      return v1::Finished::SOURCE_JOINED;
  }
  return v1::Finished::SOURCE_UNSPECIFIED;
}

struct ToWire {
  v1::OptimizeEvent& wire;

  void operator()(Accepted&& event) const {
    wire.mutable_accepted()->set_job_id(std::move(event.job_id));
    wire.mutable_accepted()->set_queue_position(event.queue_position);
    wire.mutable_accepted()->set_action_digest(std::move(event.action_digest));
    wire.mutable_accepted()->set_only_needed(event.only_needed);
    for (const NeededBlob& each : event.needed) {
      v1::NeededBlob& needed = *wire.mutable_accepted()->add_needed_blobs();
      needed.set_blob(each.blob);
      needed.set_offset(each.offset);
    }
  }
  void operator()(ProgressEvent&& event) const {
    auto& progress = *wire.mutable_progress();
    progress.set_stage(std::move(event.stage));
    progress.set_pass(std::move(event.pass));
    progress.set_done(event.done);
    progress.set_total(event.total);
  }
  void operator()(BlobInfo&& event) const {
    auto& result = *wire.mutable_result();
    result.set_role(RoleToWire(event.role));
    result.set_name(std::move(event.name));
    result.set_size_bytes(event.size_bytes);
    result.set_sha256(std::move(event.sha256));
  }
  void operator()(ChunkEvent&& event) const {
    auto& chunk = *wire.mutable_chunk();
    chunk.set_blob(event.blob);
    chunk.set_offset(event.offset);
    chunk.set_data(event.bytes.bytes().data(), event.bytes.size());
  }
  void operator()(Finished&& event) const {
    wire.mutable_finished()->set_gate_failed(event.gate_failed);
    wire.mutable_finished()->set_message(std::move(event.message));
    wire.mutable_finished()->set_action_digest(std::move(event.action_digest));
    wire.mutable_finished()->set_source(SourceToWire(event.source));
  }
};

}  // namespace

Result<NewJob> NewJobOf(const v1::Spec& spec) {
  const auto invalid = [](std::string_view field, std::string_view message) {
    return Fail(Code::kInvalidArgument, "{}: {}", field, message)
        .Field(field)
        .Reason("INVALID_SPEC");
  };
  if (spec.labels_size() > kMostLabels) return invalid("spec.labels", "lists more than 16");
  NewJob job{.spec = spec.SerializeAsString(), .priority = spec.priority(), .detached = true};
  for (const std::string& label : spec.labels()) {
    if (label.empty() || label.size() > kMostLabelBytes) {
      return invalid("spec.labels", "a label must have 1 to 64 bytes");
    }
    job.labels.push_back(label);
  }
  std::sort(job.labels.begin(), job.labels.end());
  return job;
}

Result<JobSpec> SpecFromWire(const v1::Spec& wire) {
  JobSpec spec;
  OCTAVO_TRY(spec.options, OptionsFromWire(wire.options()));
  for (int i = 0; i < wire.blobs_size(); ++i) {
    const v1::BlobInfo& blob = wire.blobs(i);
    OCTAVO_TRY(const Role role, RoleFromWire(blob.role(), i));
    spec.blobs.push_back({.role = role,
                          .name = blob.name(),
                          .size_bytes = blob.size_bytes(),
                          .sha256 = blob.sha256()});
  }
  OCTAVO_CHECK(CheckGateSamples(spec));
  spec.action_digest = ActionOf(spec);
  spec.no_cache = wire.no_cache();
  if (wire.priority() < -kMostPriority || wire.priority() > kMostPriority) {
    return Fail(Code::kInvalidArgument, "spec.priority: must be from -10 to 10")
        .Field("spec.priority")
        .Reason("INVALID_SPEC");
  }
  spec.priority = wire.priority();
  if (wire.detach()) {
    OCTAVO_TRY(spec.detached, NewJobOf(wire));
  }
  return spec;
}

v1::OptimizeEvent EventToWire(Event event) {
  v1::OptimizeEvent wire;
  std::visit(ToWire{wire}, std::move(event));
  return wire;
}

}  // namespace octavo::server

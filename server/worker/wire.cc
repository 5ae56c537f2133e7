// SPDX-License-Identifier: Apache-2.0
#include "server/worker/wire.h"

#include <algorithm>

#include "core/job/options_wire.h"
#include "core/job/stage_names.h"

namespace octavo::server::worker {
namespace {

constexpr size_t kMaxText = 4096;

Failure Broken(std::string_view what) { return Fail(Code::kInvalidArgument, "{}", what); }

bool IsLowerWord(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }
bool IsUpperWord(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

std::vector<RequestBlob> BlobsOf(const job::Request& request) {
  std::vector<RequestBlob> blobs = {{v1::Input::ROLE_MODEL, &request.model}};
  for (const auto& blob : request.external_data) blobs.push_back({v1::Input::ROLE_EXTERNAL, &blob});
  if (request.profile) blobs.push_back({v1::Input::ROLE_PROFILE, &*request.profile});
  for (const auto& blob : request.samples) blobs.push_back({v1::Input::ROLE_SAMPLES, &blob});
  if (request.target) blobs.push_back({v1::Input::ROLE_TARGET, &*request.target});
  return blobs;
}

v1::Job JobToWire(const job::Request& request) {
  v1::Job job;
  *job.mutable_options() = job::OptionsToWire(request.options);
  job.set_max_nodes(request.limits.nodes);
  job.set_max_value_bytes(request.limits.value_bytes);
  job.set_max_samples_bytes(request.limits.samples_bytes);
  job.set_max_memory_bytes(request.limits.memory_bytes);
  job.set_certificate(request.certificate);
  return job;
}

Status AddInput(job::Request& request, const v1::Input& input, Blob bytes) {
  job::NamedBlob blob{.name = input.name(), .bytes = std::move(bytes)};
  switch (input.role()) {
    case v1::Input::ROLE_MODEL:
      request.model = std::move(blob);
      return {};
    case v1::Input::ROLE_EXTERNAL:
      request.external_data.push_back(std::move(blob));
      return {};
    case v1::Input::ROLE_PROFILE:
      request.profile = std::move(blob);
      return {};
    case v1::Input::ROLE_SAMPLES:
      request.samples.push_back(std::move(blob));
      return {};
    case v1::Input::ROLE_TARGET:
      request.target = std::move(blob);
      return {};
    default:
      return Broken("an input without a role");
  }
}

Status SetJob(job::Request& request, const v1::Job& job) {
  OCTAVO_TRY(request.options, job::OptionsFromWire(job.options()));
  request.limits = {.nodes = job.max_nodes(),
                    .value_bytes = job.max_value_bytes(),
                    .samples_bytes = job.max_samples_bytes(),
                    .memory_bytes = job.max_memory_bytes()};
  request.certificate = job.certificate();
  return {};
}

v1::Failed ErrorToWire(const Error& error) {
  v1::Failed failed;
  failed.set_code(static_cast<uint32_t>(error.code));
  failed.set_message(error.message.substr(0, kMaxText));
  failed.set_reason(error.reason);
  failed.set_node(error.node.substr(0, kMaxText));
  failed.set_field(error.field.substr(0, kMaxText));
  return failed;
}

Result<Error> ErrorFromWire(const v1::Failed& failed) {
  if (failed.code() > static_cast<uint32_t>(Code::kInternal)) return Broken("an unknown code");
  const std::string& reason = failed.reason();
  if (reason.empty() || reason.size() > 40 ||
      !std::all_of(reason.begin(), reason.end(), IsUpperWord)) {
    return Broken("a reason that is no word");
  }
  return Error{.code = static_cast<Code>(failed.code()),
               .message = failed.message().substr(0, kMaxText),
               .reason = reason,
               .node = failed.node().substr(0, kMaxText),
               .field = failed.field().substr(0, kMaxText)};
}

bool IsStage(std::string_view stage) {
  return std::ranges::find(job::kStageNames, stage) != std::end(job::kStageNames);
}

bool IsPass(std::string_view pass) {
  return pass.size() <= 64 && std::all_of(pass.begin(), pass.end(), IsLowerWord);
}

}  // namespace octavo::server::worker

// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_request.h"

#include <algorithm>
#include <utility>

namespace octavo::server {

job::Request RequestOf(const Options& options, const Limits& limits) {
  job::Request request{.options = options,
                       .limits = {.nodes = static_cast<int64_t>(limits.nodes),
                                  .value_bytes = static_cast<int64_t>(limits.value_bytes),
                                  .samples_bytes = static_cast<int64_t>(limits.samples_bytes)}};
  const int most = limits.job_threads;
  request.options.threads = options.threads > 0 ? std::min(options.threads, most) : most;
  return request;
}

Status AddInput(job::Request& request, const BlobInfo& info, Blob bytes) {
  job::NamedBlob blob{.name = info.name, .bytes = std::move(bytes)};
  switch (info.role) {
    case Role::kModel:
      request.model = std::move(blob);
      return {};
    case Role::kExternal:
      request.external_data.push_back(std::move(blob));
      return {};
    case Role::kProfile:
      request.profile = std::move(blob);
      return {};
    case Role::kSamples:
      request.samples.push_back(std::move(blob));
      return {};
    case Role::kTarget:
      request.target = std::move(blob);
      return {};
    case Role::kOptimizedModel:
    case Role::kReport:
    case Role::kSnapshot:
      break;
  }
  return Fail(Code::kInternal, "a result role passed the check of the spec");
}

}  // namespace octavo::server

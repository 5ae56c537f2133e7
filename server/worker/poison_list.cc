// SPDX-License-Identifier: Apache-2.0
#include "server/worker/poison_list.h"

#include <algorithm>
#include <vector>

#include "core/base/sha256.h"
#include "core/job/action_digest.h"
#include "server/worker/wire.h"

namespace octavo::server::worker {
namespace {

job::InputRole RoleOf(v1::Input::Role role) {
  switch (role) {
    case v1::Input::ROLE_EXTERNAL:
      return job::InputRole::kExternal;
    case v1::Input::ROLE_PROFILE:
      return job::InputRole::kProfile;
    case v1::Input::ROLE_SAMPLES:
      return job::InputRole::kSamples;
    case v1::Input::ROLE_TARGET:
      return job::InputRole::kTarget;
    default:
      return job::InputRole::kModel;
  }
}

std::string DigestOf(const job::Request& request) {
  std::vector<job::DeclaredInput> inputs;
  for (const RequestBlob& input : BlobsOf(request)) {
    inputs.push_back({.role = RoleOf(input.role),
                      .name = input.blob->name,
                      .size = input.blob->bytes.size(),
                      .sha256 = Sha256Of(input.blob->bytes.bytes())});
  }
  return job::ActionDigest(request.options, std::move(inputs));
}

uint64_t BytesOf(const job::Request& request) {
  uint64_t bytes = 0;
  for (const RequestBlob& input : BlobsOf(request)) bytes += input.blob->bytes.size();
  return bytes;
}

}  // namespace

void PoisonList::Forget(Clock::time_point now) {
  std::erase_if(jobs_, [&](const auto& job) { return now - job.second.last >= kTime; });
  if (jobs_.size() <= kMostJobs) return;
  jobs_.erase(std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
    return a.second.last < b.second.last;
  }));
}

void PoisonList::Crashed(const job::Request& request, const Error& error, Clock::time_point now) {
  const std::string digest = DigestOf(request);
  const std::lock_guard lock(mutex_);
  Entry& entry = jobs_[digest];
  ++entry.crashes;
  entry.bytes = BytesOf(request);
  entry.last = now;
  entry.message = error.message;
  Forget(now);
}

Status PoisonList::Check(const job::Request& request, Clock::time_point now) {
  {
    const uint64_t bytes = BytesOf(request);
    const std::lock_guard lock(mutex_);
    Forget(now);
    const bool possible = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) {
      return job.second.crashes >= kCrashes && job.second.bytes == bytes;
    });
    if (!possible) return {};
  }
  const std::string digest = DigestOf(request);
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(digest);
  if (found == jobs_.end() || found->second.crashes < kCrashes) return {};
  const auto rest =
      std::chrono::duration_cast<std::chrono::minutes>(found->second.last + kTime - now);
  return Fail(Code::kTooLarge, "this job crashed {} times and is refused for {} minutes: {}",
              found->second.crashes, rest.count() + 1, found->second.message)
      .Reason("POISONED");
}

}  // namespace octavo::server::worker

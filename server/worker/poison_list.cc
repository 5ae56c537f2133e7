// SPDX-License-Identifier: Apache-2.0
#include "server/worker/poison_list.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "core/base/sha256.h"
#include "core/job/action_digest.h"
#include "server/log/log.h"
#include "server/worker/wire.h"

namespace octavo::server::worker {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxMessage = 512;
constexpr int64_t kLastSecond = int64_t{1} << 33;  // in the year 2242

// Text of a worker: any bytes, which JSON may not hold.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kMaxMessage));
  std::replace_if(
      printable.begin(), printable.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return printable;
}

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

PoisonList::PoisonList(std::string file, Clock::time_point now) : file_(std::move(file)) {
  if (!file_.empty()) Read(now);
}

void PoisonList::Read(Clock::time_point now) {
  if (!std::filesystem::exists(file_)) return;
  const auto bytes = Blob::MapFile(file_);
  const Json all = bytes ? Json::parse(bytes->text(), nullptr, /*allow_exceptions=*/false) : Json();
  const auto valid = [](const Json& job) {
    if (!job.is_object()) return false;
    const Json crashes = job.value("crashes", Json());
    const Json last = job.value("last", Json());
    return job.value("action", Json()).is_string() && job.value("message", Json()).is_string() &&
           job.value("bytes", Json()).is_number_unsigned() && crashes.is_number_unsigned() &&
           crashes <= INT32_MAX && last.is_number_unsigned() && last <= kLastSecond;
  };
  if (!all.is_array() || !std::all_of(all.begin(), all.end(), valid)) {
    log::Warning("the list of jobs that crashed cannot be read", {{"file", file_}});
    return;
  }
  for (const Json& job : all) {
    const Clock::time_point last{std::chrono::seconds(job["last"].get<int64_t>())};
    jobs_[job["action"].get<std::string>()] = {.crashes = job["crashes"].get<int>(),
                                               .bytes = job["bytes"].get<uint64_t>(),
                                               .last = last,
                                               .message = job["message"].get<std::string>()};
  }
  Forget(now);
}

// A crash is rare and the list is short: it is written as a whole.  The caller holds the mutex.
void PoisonList::Write() const {
  Json all = Json::array();
  for (const auto& [action, entry] : jobs_) {
    const auto last = std::chrono::floor<std::chrono::seconds>(entry.last.time_since_epoch());
    all.push_back({{"action", action},
                   {"crashes", entry.crashes},
                   {"bytes", entry.bytes},
                   {"last", last.count()},
                   {"message", entry.message}});
  }
  const std::string written = file_ + ".new";
  if (WriteFile(written, std::string_view(all.dump())) &&
      std::rename(written.c_str(), file_.c_str()) == 0) {
    return;
  }
  log::Warning("the list of jobs that crashed cannot be written", {{"file", file_}});
}

void PoisonList::Forget(Clock::time_point now) {
  // A clock that was ahead must not refuse a job for longer than a day.
  for (auto& [action, entry] : jobs_) entry.last = std::min(entry.last, now);
  std::erase_if(jobs_, [&](const auto& job) { return now - job.second.last >= kTime; });
  while (jobs_.size() > kMostJobs) {
    jobs_.erase(std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
      return a.second.last < b.second.last;
    }));
  }
}

void PoisonList::Crashed(const job::Request& request, const Error& error, Clock::time_point now) {
  const std::string digest = DigestOf(request);
  const std::lock_guard lock(mutex_);
  Entry& entry = jobs_[digest];
  ++entry.crashes;
  entry.bytes = BytesOf(request);
  entry.last = now;
  entry.message = Printable(error.message);
  Forget(now);
  if (!file_.empty()) Write();
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

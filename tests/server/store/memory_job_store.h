// SPDX-License-Identifier: Apache-2.0
// The journal without a database, for tests of its users.  It passes the contract's tests.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/store/job_store.h"

namespace octavo::server {

class MemoryJobStore : public JobStore {
 public:
  explicit MemoryJobStore(JobClock now) : now_(std::move(now)) {}

  Result<JobRecord> Create(const NewJob& job) override {
    const std::scoped_lock lock(mutex_);
    for (const JobRecord& other : jobs_) {
      if (!job.request_id.empty() && other.job.client == job.client &&
          other.job.request_id == job.request_id && other.created > Now() - kDay) {
        return other;
      }
    }
    jobs_.push_back({.job = job, .created = Now()});
    std::vector<std::string>& labels = jobs_.back().job.labels;
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    numbers_.push_back(++last_number_);
    return jobs_.back();
  }

  Status Start(const std::string& job_id) override {
    const std::scoped_lock lock(mutex_);
    OCTAVO_TRY(JobRecord* const job, At(job_id));
    if (job->state != JobState::kQueued) return WrongState(job_id, job->state, "queued");
    job->state = JobState::kRunning;
    job->started = Now();
    ++job->attempt;
    return {};
  }

  Status Requeue(const std::string& job_id) override {
    const std::scoped_lock lock(mutex_);
    OCTAVO_TRY(JobRecord* const job, At(job_id));
    if (job->state != JobState::kRunning) return WrongState(job_id, job->state, "running");
    job->state = JobState::kQueued;
    --job->attempt;
    return {};
  }

  void Advance(const std::string& job_id, const JobProgress& progress) override {
    const std::scoped_lock lock(mutex_);
    const auto job = At(job_id);
    if (job && (*job)->state == JobState::kRunning) (*job)->progress = progress;
  }

  Status Finish(const std::string& job_id, const JobEnd& end) override {
    const std::scoped_lock lock(mutex_);
    OCTAVO_TRY(JobRecord* const job, At(job_id));
    if (HasEnded(*job)) return WrongState(job_id, job->state, "queued or running");
    End(*job, end);
    return {};
  }

  Result<std::optional<JobRecord>> Find(const std::string& job_id) override {
    const std::scoped_lock lock(mutex_);
    const auto job = At(job_id);
    if (!job) return std::optional<JobRecord>();
    return std::optional<JobRecord>(**job);
  }

  Result<JobPage> List(const JobFilter& filter) override {
    OCTAVO_CHECK(CheckFilter(filter));
    const std::scoped_lock lock(mutex_);
    const uint64_t before = filter.page_token.empty() ? UINT64_MAX : std::stoull(filter.page_token);
    JobPage page;
    for (size_t i = jobs_.size(); i-- > 0;) {
      const std::vector<std::string>& labels = jobs_[i].job.labels;
      if (numbers_[i] >= before || (filter.state && jobs_[i].state != *filter.state)) continue;
      if (!filter.label.empty() &&
          std::find(labels.begin(), labels.end(), filter.label) == labels.end()) {
        continue;
      }
      if (!filter.action.empty() && jobs_[i].job.action != filter.action) continue;
      if (page.jobs.size() == static_cast<size_t>(filter.page_size)) {
        page.next_page_token = fmt::format("{}", last_listed_);
        break;
      }
      page.jobs.push_back(jobs_[i]);
      page.jobs.back().job.spec.clear();
      last_listed_ = numbers_[i];
    }
    return page;
  }

  Status Delete(const std::string& job_id) override {
    const std::scoped_lock lock(mutex_);
    OCTAVO_TRY(JobRecord* const job, At(job_id));
    if (!HasEnded(*job)) return WrongState(job_id, job->state, "ended");
    Erase(static_cast<size_t>(job - jobs_.data()));
    return {};
  }

  Result<std::vector<std::string>> Forget(JobTime time, uint64_t most_bytes) override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> ids;
    const auto order = [&](size_t a, size_t b) {
      return std::pair(*jobs_[a].ended, numbers_[a]) > std::pair(*jobs_[b].ended, numbers_[b]);
    };
    std::vector<size_t> ended;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (HasEnded(jobs_[i])) ended.push_back(i);
    }
    std::sort(ended.begin(), ended.end(), order);
    uint64_t kept = 0;
    for (const size_t i : ended) {
      kept += jobs_[i].job.spec.size() + 1024;
      if (*jobs_[i].ended < time || kept > most_bytes) ids.push_back(jobs_[i].job.job_id);
    }
    for (const std::string& id : ids) Erase(static_cast<size_t>(*At(id) - jobs_.data()));
    return ids;
  }

  void Note(const JobRecord& record) override {
    const std::scoped_lock lock(mutex_);
    if (const auto job = At(record.job.job_id)) {
      **job = record;
      return;
    }
    jobs_.push_back(record);
    numbers_.push_back(++last_number_);
  }

  Result<std::vector<JobBlobs>> KeptBlobs() override {
    const std::scoped_lock lock(mutex_);
    std::vector<JobBlobs> all;
    for (const JobRecord& job : jobs_) {
      if (job.state != JobState::kSucceeded || !job.job.detached) continue;
      all.push_back({.job_id = job.job.job_id});
      for (const ResultBlob& blob : job.result.blobs) all.back().blobs.push_back(blob.digest);
    }
    return all;
  }

  Result<std::vector<JobRecord>> Recover() override {
    const std::scoped_lock lock(mutex_);
    std::vector<JobRecord> queued;
    for (JobRecord& job : jobs_) {
      if (HasEnded(job)) continue;
      if (!job.job.detached) {
        End(job, EndOfCall());
      } else if (job.state == JobState::kRunning && job.attempt >= kAttempts) {
        End(job, EndOfAttempts(job.attempt));
      } else {
        job.state = JobState::kQueued;
        queued.push_back(job);
      }
    }
    return queued;
  }

  Status RecordCrash(const std::string& action) override {
    const std::scoped_lock lock(mutex_);
    auto& [count, last] = crashes_[action];
    if (last <= Now() - kDay) count = 0;
    ++count;
    last = Now();
    return {};
  }

  Result<bool> IsPoisoned(const std::string& action) override {
    const std::scoped_lock lock(mutex_);
    const auto found = crashes_.find(action);
    if (found == crashes_.end()) return false;
    return found->second.first >= kCrashes && found->second.second > Now() - kDay;
  }

 private:
  JobTime Now() const { return std::chrono::time_point_cast<std::chrono::milliseconds>(now_()); }
  static bool HasEnded(const JobRecord& job) { return job.ended.has_value(); }
  Result<JobRecord*> At(const std::string& job_id) {
    for (JobRecord& job : jobs_) {
      if (job.job.job_id == job_id) return &job;
    }
    return NoSuchJob(job_id);
  }
  void End(JobRecord& job, const JobEnd& end) {
    job.state = end.state;
    job.ended = Now();
    job.error = end.error;
    job.result = end.result;
  }
  void Erase(size_t index) {
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(index));
    numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  const JobClock now_;
  std::mutex mutex_;
  std::vector<JobRecord> jobs_;
  std::vector<uint64_t> numbers_;  // of jobs_, ascending
  uint64_t last_number_ = 0;
  uint64_t last_listed_ = 0;
  std::map<std::string, std::pair<int, JobTime>> crashes_;
};

}  // namespace octavo::server

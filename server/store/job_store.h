// SPDX-License-Identifier: Apache-2.0
// The journal of a service's jobs: what was acknowledged and what became of it.  A change is
// durable when its call returns, except for Advance.  All implementations pass the tests of
// tests/server/store/job_store_contract_test.cc.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "server/store/database.h"
#include "server/store/result_index.h"

namespace octavo::server {

//   Create          Start             Finish
//   ------> kQueued ----> kRunning ----------> kSucceeded, kFailed, kCancelled
//            ^   |           |                      ^
//            |   +-----------|----------------------+
//            |               +-- Recover, after the last attempt: kFailed
//            +-- Requeue, Recover
enum class JobState { kQueued, kRunning, kSucceeded, kFailed, kCancelled };

using JobTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;
using JobClock = std::function<std::chrono::system_clock::time_point()>;

struct JobProgress {
  uint64_t sequence = 0;
  std::string stage = {};
  std::string pass = {};
  int64_t done = 0;
  int64_t total = 0;

  bool operator==(const JobProgress&) const = default;
};

struct NewJob {
  std::string job_id = {};
  std::string request_id = {};  // chosen by the client; may be empty
  std::string client = {};
  std::string model = {};
  std::string action = {};  // the action digest
  std::string spec = {};    // the serialized octavo.v1.Spec
  int priority = 0;
  bool detached = false;  // goes on after the call that created it
  std::vector<std::string> labels = {};

  bool operator==(const NewJob&) const = default;
};

struct JobRecord {
  NewJob job = {};
  JobState state = JobState::kQueued;
  int attempt = 0;  // how many times it has been started
  JobTime created = {};
  std::optional<JobTime> started = {};  // of the last attempt
  std::optional<JobTime> ended = {};
  JobProgress progress = {};
  std::optional<Error> error = {};  // of a failed or cancelled job
  StoredResult result = {};         // of a succeeded job

  bool operator==(const JobRecord&) const = default;
};

struct JobEnd {
  JobState state = JobState::kSucceeded;
  std::optional<Error> error = {};
  StoredResult result = {};
};

struct JobFilter {
  std::optional<JobState> state = {};
  std::string label = {};   // empty: any
  std::string action = {};  // empty: any
  int page_size = 100;      // at most 1,000
  std::string page_token = {};
};

struct JobPage {
  std::vector<JobRecord> jobs = {};  // newest first, without their specs
  std::string next_page_token = {};  // empty: the last page
};

// What a succeeded job's client may still fetch.
struct JobBlobs {
  std::string job_id = {};
  std::vector<BlobDigest> blobs = {};

  bool operator==(const JobBlobs&) const = default;
};

class JobStore {
 public:
  static constexpr int kAttempts = 2;
  static constexpr int kCrashes = 2;
  static constexpr int kLargestPage = 1000;
  static constexpr std::chrono::hours kDay{24};  // of request ids and of poison

  virtual ~JobStore() = default;

  // If the client has created a job with the same non-empty request id within a day, returns that
  // one.
  virtual Result<JobRecord> Create(const NewJob& job) = 0;
  // kQueued to kRunning, one attempt more.  Fails with NOT_FOUND or, in another state, USAGE.
  virtual Status Start(const std::string& job_id) = 0;
  // kRunning to kQueued; the attempt does not count.  Fails as Start does.
  virtual Status Requeue(const std::string& job_id) = 0;
  // Overwrites the progress of a running job, without waiting for the disk.
  virtual void Advance(const std::string& job_id, const JobProgress& progress) = 0;
  // Fails with NOT_FOUND or, if the job has ended, USAGE.
  virtual Status Finish(const std::string& job_id, const JobEnd& end) = 0;
  virtual Result<std::optional<JobRecord>> Find(const std::string& job_id) = 0;
  // Fails with USAGE and the field for a page size or token that is not valid.
  virtual Result<JobPage> List(const JobFilter& filter) = 0;
  // Fails with NOT_FOUND or, if the job has not ended, USAGE.
  virtual Status Delete(const std::string& job_id) = 0;
  // Deletes the jobs that ended before `time`, then the oldest ended ones until the others count
  // at most `most_bytes` (1 KiB and its spec each).  Returns the ids.
  virtual Result<std::vector<std::string>> Forget(JobTime time, uint64_t most_bytes) = 0;
  // Creates or replaces a job that is not detached, without waiting for the disk.
  virtual void Note(const JobRecord& record) = 0;
  // Of all succeeded detached jobs.
  virtual Result<std::vector<JobBlobs>> KeptBlobs() = 0;

  // For the start of a service.  A detached job that had not ended is queued again, or has failed
  // if it has used its attempts; another one is cancelled, as its call has ended.  Returns the
  // queued jobs in order of creation.
  virtual Result<std::vector<JobRecord>> Recover() = 0;

  // Counts a crash of a worker that ran the action.
  virtual Status RecordCrash(const std::string& action) = 0;
  // Whether the action has crashed kCrashes times, the last time within a day.
  virtual Result<bool> IsPoisoned(const std::string& action) = 0;
};

// The journal in the service's database, which must outlive it.
std::unique_ptr<JobStore> MakeJobStore(Database& database,
                                       JobClock now = &std::chrono::system_clock::now);

// What all implementations check and answer.
Status CheckFilter(const JobFilter& filter);
Failure NoSuchJob(const std::string& job_id);
Failure WrongState(const std::string& job_id, JobState state, std::string_view wanted);
// What Recover makes of a job that had not ended.
JobEnd EndOfAttempts(int attempts);
JobEnd EndOfCall();
// "queued", "running", "succeeded", "failed", "cancelled"
std::string_view NameOf(JobState state);

}  // namespace octavo::server

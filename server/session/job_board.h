// SPDX-License-Identifier: Apache-2.0
// The jobs of a service with a journal.  Submit makes a job durable before it returns; from then on
// it runs, in this process or, after a restart, in the next one, until it has ended.  The scheduler
// has as many of these jobs as there are workers; the others wait here.  Their inputs and, until
// the job is forgotten, its results stay in the store.  Jobs of Optimize calls are listed too.
//
// Everything but Start, Post and Stop must be called in a step given to Post; steps run one at a
// time in the pool for disk work.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/pool/event_loop.h"
#include "server/session/flights.h"
#include "server/session/job_turns.h"
#include "server/session/kept_blobs.h"
#include "server/session/limits.h"
#include "server/session/spec.h"
#include "server/store/job_store.h"

namespace octavo::server {

// All must outlive the board.
struct JobBoardServices {
  Limits limits = {};
  JobStore& journal;
  BlobStore& blobs;
  ResultCache& results;
  Scheduler& scheduler;
  Flights& flights;
  WorkPool& disk;
  EventLoop& loop;
  JobProbe& probe;
  // Reads a spec from the bytes in the journal.
  std::function<Result<JobSpec>(const std::string&)> read_spec = {};
  // Of jobs that have not ended.  A client may have as many as are left for others.
  size_t most_jobs = 20'000;
  uint64_t most_spec_bytes = 64ull << 20;
};

// A job as it is now.
struct JobView {
  JobRecord record = {};  // `progress.sequence` numbers its changes
  uint32_t queue_position = 0;
};

// UNIMPLEMENTED: the service has no board.
Error NoBoard();
// Whether the job will not change any more.
bool HasEnded(const JobRecord& record);

class JobBoard : public std::enable_shared_from_this<JobBoard> {
 public:
  // Queues the jobs that an earlier process left.
  static Result<std::shared_ptr<JobBoard>> Start(JobBoardServices services);
  void Post(std::function<void(JobBoard&)> step);
  // Ends all steps.  Jobs that have not ended stay in the journal; they also do if the service
  // drains.  Must not be called in a step.
  void Stop();

  // `job` without action and model, which the spec has.  The blobs must be in the store: otherwise
  // MISSING_BLOBS, with their digests in CallStatus::missing.  OVERLOADED and STORAGE have a
  // CallStatus::retry_after.
  tl::expected<JobView, CallStatus> Submit(NewJob job, const JobSpec& spec);
  // The job with an id, or the newest one with an action digest; else NOT_FOUND.
  Result<JobView> Find(const std::string& id);
  struct Page {
    std::vector<JobView> jobs = {};  // without their specs
    std::string next_page_token = {};
  };
  Result<Page> List(const JobFilter& filter);
  Result<JobView> Cancel(const std::string& id);
  Status Delete(const std::string& id);

  // The job of a call, which calls these three itself; `cancel` must end the call.
  void Attach(NewJob job, std::function<void()> cancel);
  void AttachedProgress(const std::string& job_id, ProgressEvent progress);
  void AttachedEnded(const std::string& job_id, JobEnd end);

  // Calls `changed` in a step after each change of the job, while the returned object exists.
  using Watch = std::shared_ptr<std::function<void(JobBoard&)>>;
  Watch WatchJob(const std::string& job_id, std::function<void(JobBoard&)> changed);

 private:
  // A job that has not ended, or whose end is not written yet.
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;
  using Refused = tl::expected<void, CallStatus>;
  using Held = std::vector<HeldBlob>;

  explicit JobBoard(JobBoardServices services);
  Status Recover();
  // Forgets jobs that ended long ago, then does so again after a pause.
  void Forget();
  Refused CheckRoom(const NewJob& job) const;
  void AddWaiting(const EntryPtr& entry);
  JobView ViewOf(JobRecord record) const;
  Result<JobRecord> FindRecord(const std::string& id);
  void Changed(Entry& entry);

  // job_board_run.cc
  // Starts what the scheduler takes, but not during a pause.
  void Pump();
  void PumpAfter(std::chrono::steady_clock::duration pause);
  Refused Begin(const EntryPtr& entry);
  Refused Submit(const EntryPtr& entry);
  // `missing` gets the digests of those that the store lacks.
  Result<Held> HoldBlobs(const JobSpec& spec, Check check, std::vector<std::string>& missing);
  Flights::Waiter WaiterOf(const EntryPtr& entry);
  void TakeProgress(Entry& entry);
  void Show(Entry& entry, ProgressEvent progress);
  void HandleFinished(Entry& entry, const FinishedRun& finished);
  void Requeue(Entry& entry);
  void Succeed(Entry& entry, const StoredResult& result, Held blobs);
  void Fail(Entry& entry, Error error);
  void Finish(Entry& entry, JobEnd end);
  // Whether the journal has the end.
  bool WriteEnd(Entry& entry);
  void WriteEnds();
  void Release(Entry& entry);

  const JobBoardServices services_;
  Serial serial_;
  bool stopped_ = false;
  std::map<std::string, EntryPtr> open_;   // by job id
  std::map<std::string, size_t> open_of_;  // detached jobs in it, by client
  uint64_t spec_bytes_ = 0;                // of detached jobs
  JobTurns waiting_;
  KeptBlobs kept_;
  int active_ = 0;
  EventLoop::Timer retry_;
  std::chrono::steady_clock::time_point pause_until_ = {};  // no job begins before
  EventLoop::Timer forget_;
  std::map<std::string, std::vector<std::weak_ptr<std::function<void(JobBoard&)>>>> watches_;
};

}  // namespace octavo::server

// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_board.h"

#include <algorithm>
#include <future>
#include <utility>

#include "server/log/log.h"
#include "server/session/job_board_entry.h"

namespace octavo::server {
namespace {

using SystemClock = std::chrono::system_clock;

constexpr auto kForgetPause = std::chrono::seconds(5);
// Of the ended jobs in the journal; JobStore::Forget counts them.
constexpr uint64_t kMostEndedBytes = 256ull << 20;
constexpr auto kRoomPause = std::chrono::seconds(5);

JobTime Now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(SystemClock::now());
}

}  // namespace

Error NoBoard() {
  return Fail(Code::kUnimplemented,
              "this service keeps no jobs: it runs without a state folder (--state-dir)")
      .error();
}

bool HasEnded(const JobRecord& record) {
  return record.state != JobState::kQueued && record.state != JobState::kRunning;
}

JobBoard::JobBoard(JobBoardServices services)
    : services_(std::move(services)), serial_(services_.disk.MakeSerial()) {}

Result<std::shared_ptr<JobBoard>> JobBoard::Start(JobBoardServices services) {
  std::shared_ptr<JobBoard> board(new JobBoard(std::move(services)));
  OCTAVO_CHECK(board->Recover());
  board->Post([](JobBoard& self) {
    self.Pump();
    self.Forget();
  });
  return board;
}

void JobBoard::Post(std::function<void(JobBoard&)> step) {
  serial_.Post([self = shared_from_this(), step = std::move(step)] {
    if (!self->stopped_) step(*self);
  });
}

void JobBoard::Stop() {
  std::promise<void> done;
  serial_.Post([this, &done] {
    stopped_ = true;
    retry_.Cancel();
    forget_.Cancel();
    for (auto& [id, entry] : open_) entry->ticket = nullptr;
    open_.clear();
    done.set_value();
  });
  done.get_future().wait();
}

Status JobBoard::Recover() {
  OCTAVO_TRY(std::vector<JobRecord> records, services_.journal.Recover());
  size_t count = 0;
  for (JobRecord& record : records) {
    auto spec = services_.read_spec(record.job.spec);
    if (!spec) {
      OCTAVO_CHECK(services_.journal.Finish(record.job.job_id,
                                            {.state = JobState::kFailed, .error = spec.error()}));
      continue;
    }
    // What is missing is said when the job begins: it may come until then.
    std::vector<std::string> missing;
    OCTAVO_TRY(Held blobs, HoldBlobs(*spec, Check::kNone, missing));
    kept_.Keep(record.job.job_id, std::move(blobs));
    AddWaiting(std::make_shared<Entry>(Entry{.record = std::move(record), .spec = *spec}));
    ++count;
  }
  OCTAVO_TRY(const auto results, services_.journal.KeptBlobs());
  for (const JobBlobs& job : results) {
    Held blobs;
    for (const BlobDigest& digest : job.blobs) {
      OCTAVO_TRY(HeldBlob blob, services_.blobs.Open(digest, Check::kNone));
      blobs.push_back(std::move(blob));
    }
    kept_.Keep(job.job_id, std::move(blobs));
  }
  if (count > 0) log::Info("jobs recovered", {{"count", count}});
  services_.probe.Recovered(count);
  return {};
}

void JobBoard::Forget() {
  const auto forgotten =
      services_.journal.Forget(Now() - services_.limits.keep_jobs, kMostEndedBytes);
  if (!forgotten) {
    log::Warning("old jobs not deleted", {{"reason", forgotten.error().message}});
  } else {
    for (const std::string& job_id : *forgotten) kept_.Drop(job_id);
  }
  forget_ = services_.loop.After(kForgetPause, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Post([](JobBoard& board) { board.Forget(); });
  });
}

// Half of the store is left for the calls that wait for their results.
JobBoard::Refused JobBoard::CheckRoom(const NewJob& job) const {
  const auto refuse = [](Failure failure) {
    return tl::unexpected<CallStatus>(
        CallStatus{.error = failure.error(), .retry_after = kRoomPause});
  };
  const auto mine = open_of_.find(job.client);
  const size_t count = mine == open_of_.end() ? 0 : mine->second;
  size_t all = 0;
  for (const auto& [client, jobs] : open_of_) all += jobs;
  if (all + count >= services_.most_jobs ||
      spec_bytes_ + job.spec.size() > services_.most_spec_bytes) {
    return refuse(
        octavo::Fail(Code::kResourceExhausted,
                     "{} detached jobs have not ended, {} of them this client's; a client "
                     "may have as many as are left of {}",
                     all, count, services_.most_jobs)
            .Reason("OVERLOADED"));
  }
  if (kept_.bytes() > services_.limits.store_bytes / 2) {
    return refuse(octavo::Fail(Code::kResourceExhausted,
                               "inputs and results of detached jobs take {} bytes, more than half "
                               "of the service's store; delete jobs that are no longer needed",
                               kept_.bytes())
                      .Reason("STORAGE"));
  }
  return {};
}

void JobBoard::AddWaiting(const EntryPtr& entry) {
  const NewJob& job = entry->record.job;
  open_.emplace(job.job_id, entry);
  ++open_of_[job.client];
  spec_bytes_ += job.spec.size();
  waiting_.Add(job.client, job.job_id, job.priority);
}

tl::expected<JobView, CallStatus> JobBoard::Submit(NewJob job, const JobSpec& spec) {
  const auto refuse = [](Error error, std::vector<std::string> missing = {}) {
    return tl::unexpected<CallStatus>(
        CallStatus{.error = std::move(error), .missing = std::move(missing)});
  };
  if (services_.scheduler.draining()) return tl::unexpected<CallStatus>(Draining());
  if (auto ok = CheckSpec(spec, services_.limits); !ok) return refuse(ok.error());
  if (auto ok = CheckRoom(job); !ok) return tl::unexpected<CallStatus>(std::move(ok).error());
  std::vector<std::string> missing;
  auto blobs = HoldBlobs(spec, Check::kOnce, missing);
  if (!blobs) return refuse(blobs.error());
  if (!missing.empty()) {
    Error error = octavo::Fail(Code::kTooLarge, "the store lacks {} of the job's {} blobs",
                               missing.size(), spec.blobs.size())
                      .Field("spec.blobs")
                      .Reason("MISSING_BLOBS")
                      .error();
    return refuse(std::move(error), std::move(missing));
  }
  job.action = spec.action_digest;
  job.model = ModelNameOf(spec);
  job.detached = true;
  auto record = services_.journal.Create(job);
  if (!record) return refuse(record.error());
  // An earlier request with the same id.
  if (record->job.job_id != job.job_id) return ViewOf(std::move(*record));
  kept_.Keep(job.job_id, std::move(*blobs));
  const auto entry = std::make_shared<Entry>(Entry{.record = *record, .spec = spec});
  AddWaiting(entry);
  log::Info("job submitted", {{"job_id", job.job_id}, {"client", job.client}});
  Pump();
  return ViewOf(entry->record);
}

JobView JobBoard::ViewOf(JobRecord record) const {
  const auto live = open_.find(record.job.job_id);
  if (live != open_.end()) record = live->second->record;
  JobView view{.record = std::move(record)};
  if (waiting_.Waits(view.record.job.job_id)) {
    view.queue_position = waiting_.Positions().at(view.record.job.job_id);
  }
  return view;
}

Result<JobRecord> JobBoard::FindRecord(const std::string& id) {
  if (const auto live = open_.find(id); live != open_.end()) return live->second->record;
  std::string job_id = id;
  if (id.starts_with("sha256:")) {
    OCTAVO_TRY(JobPage page, services_.journal.List({.action = id, .page_size = 1}));
    if (page.jobs.empty()) return NoSuchJob(id);
    job_id = page.jobs.front().job.job_id;
  }
  OCTAVO_TRY(auto record, services_.journal.Find(job_id));
  if (!record) return NoSuchJob(id);
  return std::move(*record);
}

Result<JobView> JobBoard::Find(const std::string& id) {
  OCTAVO_TRY(JobRecord record, FindRecord(id));
  return ViewOf(std::move(record));
}

Result<JobBoard::Page> JobBoard::List(const JobFilter& filter) {
  OCTAVO_TRY(JobPage found, services_.journal.List(filter));
  Page page{.next_page_token = std::move(found.next_page_token)};
  const auto positions = waiting_.Positions();
  for (JobRecord& record : found.jobs) {
    JobView view{.record = std::move(record)};
    const std::string& job_id = view.record.job.job_id;
    if (const auto at = positions.find(job_id); at != positions.end()) {
      view.queue_position = at->second;
    } else if (const auto live = open_.find(job_id); live != open_.end()) {
      view.record = live->second->record;
    }
    page.jobs.push_back(std::move(view));
  }
  return page;
}

Result<JobView> JobBoard::Cancel(const std::string& id) {
  OCTAVO_TRY(const JobRecord record, FindRecord(id));
  const auto live = open_.find(record.job.job_id);
  if (live == open_.end() || HasEnded(live->second->record)) {
    return WrongState(record.job.job_id, record.state, "queued or running");
  }
  const EntryPtr entry = live->second;
  if (entry->cancel) entry->cancel();
  Finish(*entry, {.state = JobState::kCancelled,
                  .error = octavo::Fail(Code::kCancelled, "the job was cancelled").error()});
  Pump();
  return ViewOf(entry->record);
}

Status JobBoard::Delete(const std::string& id) {
  OCTAVO_TRY(const JobRecord record, FindRecord(id));
  OCTAVO_CHECK(services_.journal.Delete(record.job.job_id));
  kept_.Drop(record.job.job_id);
  return {};
}

JobBoard::Watch JobBoard::WatchJob(const std::string& job_id,
                                   std::function<void(JobBoard&)> changed) {
  auto watch = std::make_shared<std::function<void(JobBoard&)>>(std::move(changed));
  const auto live = open_.find(job_id);
  if (live == open_.end() || HasEnded(live->second->record)) return watch;
  auto& all = watches_[job_id];
  std::erase_if(all, [](const auto& other) { return other.expired(); });
  all.push_back(watch);
  return watch;
}

void JobBoard::Changed(Entry& entry) {
  JobProgress& progress = entry.record.progress;
  const auto now = static_cast<uint64_t>(Now().time_since_epoch().count());
  // Larger than what an earlier process gave out.
  progress.sequence = std::max(progress.sequence + 1, now);
  const auto found = watches_.find(entry.record.job.job_id);
  if (found == watches_.end()) return;
  const auto watching = found->second;
  if (HasEnded(entry.record)) watches_.erase(found);
  for (const auto& weak : watching) {
    if (const auto watch = weak.lock()) (*watch)(*this);
  }
}

}  // namespace octavo::server

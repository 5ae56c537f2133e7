// SPDX-License-Identifier: Apache-2.0
// The part of the board that runs jobs.
#include <algorithm>
#include <utility>

#include "server/log/log.h"
#include "server/session/job_board_entry.h"
#include "server/session/job_request.h"
#include "server/session/kept_result.h"

namespace octavo::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kShowPause = std::chrono::milliseconds(50);
constexpr auto kWritePause = std::chrono::seconds(1);
constexpr auto kRetryPause = std::chrono::seconds(1);

JobTime Now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// The job ended because the service does.
bool EndedByDrain(const Error& error) {
  return error.reason == "DRAINING" || error.reason == "DRAIN_TIMEOUT" ||
         error.code == Code::kCancelled;
}

}  // namespace

void JobBoard::PumpAfter(Clock::duration pause) {
  pause_until_ = Clock::now() + pause;
  retry_ = services_.loop.After(pause, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->Post([](JobBoard& board) {
      board.WriteEnds();
      board.Pump();
    });
  });
}

void JobBoard::Pump() {
  if (Clock::now() < pause_until_) return;
  while (active_ < services_.limits.workers && !services_.scheduler.draining()) {
    const auto job_id = waiting_.Next();
    if (!job_id) return;
    const EntryPtr entry = open_.at(*job_id);
    entry->active = true;
    ++active_;
    const auto begun = Begin(entry);
    if (!begun && begun.error().retry_after) {
      Release(*entry);
      return PumpAfter(std::max<Clock::duration>(*begun.error().retry_after, kRetryPause));
    }
    if (waiting_.Next() == job_id) waiting_.TakeNext();
    if (!begun) Fail(*entry, *begun.error().error);
  }
}

JobBoard::Refused JobBoard::Begin(const EntryPtr& entry) {
  const std::string& action = entry->record.job.action;
  if (!entry->spec.no_cache) {
    const ResultCache::Found kept = services_.results.Find(action);
    services_.probe.CacheAsked(kept.answer);
    if (kept.answer == CacheAnswer::kHit) {
      entry->source = JobSource::kCache;
      waiting_.TakeNext();
      Succeed(*entry, kept.result, kept.blobs);
      return {};
    }
    entry->ticket = services_.flights.Join(action, WaiterOf(entry));
  }
  if (entry->ticket == nullptr) {
    if (auto queued = Submit(entry); !queued) return queued;
  }
  if (entry->ticket->joined()) entry->source = JobSource::kJoined;
  TakeProgress(*entry);
  return {};
}

Result<JobBoard::Held> JobBoard::HoldBlobs(const JobSpec& spec, Check check,
                                           std::vector<std::string>& missing) {
  Held held;
  for (const BlobInfo& blob : spec.blobs) {
    OCTAVO_TRY(HeldBlob stored,
               services_.blobs.Open({.sha256 = blob.sha256, .size_bytes = blob.size_bytes}, check));
    if (!stored && blob.size_bytes > 0) missing.push_back(blob.sha256);
    held.push_back(std::move(stored));
  }
  return held;
}

JobBoard::Refused JobBoard::Submit(const EntryPtr& entry) {
  const auto refuse = [](Error error) {
    return tl::unexpected<CallStatus>(CallStatus{.error = std::move(error)});
  };
  std::vector<std::string> missing;
  const auto blobs = HoldBlobs(entry->spec, Check::kOnce, missing);
  if (!blobs) return refuse(blobs.error());
  if (!missing.empty()) {
    return refuse(octavo::Fail(Code::kTooLarge, "the store has lost {} of the job's {} blobs",
                               missing.size(), entry->spec.blobs.size())
                      .Field("spec.blobs")
                      .Reason("MISSING_BLOBS")
                      .error());
  }
  auto request = RequestOf(entry->spec.options, services_.limits);
  uint64_t bytes = 0;
  for (size_t i = 0; i < blobs->size(); ++i) {
    const HeldBlob& blob = (*blobs)[i];
    auto mapped = blob ? blob->Map() : Result<Blob>(Blob(std::string()));
    if (!mapped) return refuse(mapped.error());
    bytes += mapped->size();
    if (auto ok = AddInput(request, entry->spec.blobs[i], std::move(*mapped)); !ok) {
      return refuse(ok.error());
    }
  }
  auto reservation =
      services_.scheduler.Admit(entry->record.job.client, EstimateFootprint(entry->spec));
  if (!reservation) return tl::unexpected<CallStatus>(std::move(reservation).error());
  if (auto room = services_.scheduler.Store(**reservation, bytes); !room) {
    return tl::unexpected<CallStatus>(std::move(room).error());
  }
  const bool alone = entry->spec.no_cache;
  auto ticket = services_.flights.Run(alone ? std::string() : entry->record.job.action,
                                      std::move(*reservation), std::move(request),
                                      entry->record.job.priority, WaiterOf(entry));
  if (!ticket) return tl::unexpected<CallStatus>(std::move(ticket).error());
  entry->ticket = std::move(*ticket);
  return {};
}

Flights::Waiter JobBoard::WaiterOf(const EntryPtr& entry) {
  const std::weak_ptr<JobBoard> weak = weak_from_this();
  const std::string id = entry->record.job.job_id;
  const auto post = [weak, id](std::function<void(JobBoard&, Entry&)> step) {
    const auto self = weak.lock();
    if (!self) return;
    self->Post([id, step = std::move(step)](JobBoard& board) {
      const auto found = board.open_.find(id);
      if (found == board.open_.end() || HasEnded(found->second->record)) return;
      const EntryPtr live = found->second;
      step(board, *live);
    });
  };
  return {
      .progress = [post] { post([](JobBoard& board, Entry& live) { board.TakeProgress(live); }); },
      .ended =
          [post](const FinishedRun& finished) {
            post([finished](JobBoard& board, Entry& live) {
              board.HandleFinished(live, finished);
              board.Pump();
            });
          }};
}

void JobBoard::TakeProgress(Entry& entry) {
  auto progress = entry.ticket ? entry.ticket->Take() : std::nullopt;
  if (progress) Show(entry, std::move(*progress));
}

void JobBoard::Show(Entry& entry, ProgressEvent progress) {
  JobRecord& record = entry.record;
  const std::string& job_id = record.job.job_id;
  const auto now = Clock::now();
  const bool starts = record.state == JobState::kQueued && progress.stage != "queue";
  if (starts) {
    record.state = JobState::kRunning;
    record.started = Now();
    ++record.attempt;
    if (!record.job.detached) {
      services_.journal.Note(record);
    } else if (const auto ok = services_.journal.Start(job_id); !ok) {
      log::Warning("start of a job not written", {{"reason", ok.error().message}});
    }
  }
  const bool stage_changes = progress.stage != record.progress.stage;
  record.progress = {.sequence = record.progress.sequence,
                     .stage = std::move(progress.stage),
                     .pass = std::move(progress.pass),
                     .done = progress.done,
                     .total = progress.total};
  if (!starts && !stage_changes && now - entry.shown < kShowPause) return;
  entry.shown = now;
  Changed(entry);
  if (!record.job.detached || now - entry.written < kWritePause) return;
  entry.written = now;
  services_.journal.Advance(job_id, record.progress);
}

void JobBoard::HandleFinished(Entry& entry, const FinishedRun& finished) {
  if (!finished) {
    if (services_.scheduler.draining() && EndedByDrain(finished.error())) return Requeue(entry);
    // Its own estimate was higher than that of its files, and others use the memory now.
    if (finished.error().reason == "OVERLOADED") {
      Requeue(entry);
      waiting_.Add(entry.record.job.client, entry.record.job.job_id, entry.record.job.priority);
      return PumpAfter(kRetryPause);
    }
    return Fail(entry, finished.error());
  }
  const std::string& action = entry.record.job.action;
  if (entry.spec.no_cache) {
    auto same =
        CompareOrKeep(services_.results, action, **finished, entry.spec.options.deterministic);
    if (!same) return Fail(entry, same.error());
  }
  const StoredResult result = StoredOf(**finished);
  Held held;
  for (const ResultBlob& blob : result.blobs) {
    auto stored = services_.blobs.Open(blob.digest, Check::kNone);
    // A result that is not in the store could not be fetched.
    if (!stored || (!*stored && blob.digest.size_bytes > 0)) {
      return Fail(entry, octavo::Fail(Code::kResourceExhausted,
                                      "the job has run, but the store could not keep its result")
                             .Reason("STORAGE")
                             .error());
    }
    held.push_back(std::move(*stored));
  }
  Succeed(entry, result, std::move(held));
}

// For later, or for the next process; this attempt does not count.
void JobBoard::Requeue(Entry& entry) {
  Release(entry);
  if (entry.record.state == JobState::kQueued) return;
  entry.record.state = JobState::kQueued;
  --entry.record.attempt;
  if (auto ok = services_.journal.Requeue(entry.record.job.job_id); !ok) {
    log::Warning("job not queued again", {{"reason", ok.error().message}});
  }
}

void JobBoard::Succeed(Entry& entry, const StoredResult& result, Held blobs) {
  kept_.Keep(entry.record.job.job_id, std::move(blobs));
  Finish(entry, {.state = JobState::kSucceeded, .result = result});
}

void JobBoard::Fail(Entry& entry, Error error) {
  const bool cancelled = error.code == Code::kCancelled;
  Finish(entry, {.state = cancelled ? JobState::kCancelled : JobState::kFailed,
                 .error = std::move(error)});
}

void JobBoard::Finish(Entry& entry, JobEnd end) {
  JobRecord& record = entry.record;
  const std::string job_id = record.job.job_id;
  record.state = end.state;
  record.error = std::move(end.error);
  record.result = std::move(end.result);
  record.ended = Now();
  const EntryPtr live = open_.at(job_id);
  waiting_.Remove(job_id);
  Release(entry);
  if (record.job.detached) {
    if (record.state != JobState::kSucceeded) kept_.Drop(job_id);
    const double seconds = std::chrono::duration<double>(Clock::now() - entry.begun).count();
    services_.probe.Ended(OutcomeOf(record.error), entry.source, seconds);
    log::Info("detached job ended", {{"job_id", job_id}, {"state", NameOf(record.state)}});
  }
  if (!WriteEnd(entry)) PumpAfter(kRetryPause);
  Changed(entry);
}

bool JobBoard::WriteEnd(Entry& entry) {
  const JobRecord& record = entry.record;
  const NewJob& job = record.job;
  if (!job.detached) {
    services_.journal.Note(record);
    open_.erase(job.job_id);
    return true;
  }
  const auto ok = services_.journal.Finish(
      job.job_id, {.state = record.state, .error = record.error, .result = record.result});
  if (!ok && ok.error().code != Code::kUsage) {
    log::Error("end of a job not written",
               {{"job_id", job.job_id}, {"reason", ok.error().message}});
    return false;
  }
  spec_bytes_ -= job.spec.size();
  const auto mine = open_of_.find(job.client);
  if (--mine->second == 0) open_of_.erase(mine);
  open_.erase(job.job_id);
  return true;
}

// Those that could not be written.
void JobBoard::WriteEnds() {
  std::vector<EntryPtr> ended;
  for (const auto& [id, entry] : open_) {
    if (HasEnded(entry->record)) ended.push_back(entry);
  }
  for (const EntryPtr& entry : ended) {
    if (!WriteEnd(*entry)) return PumpAfter(kRetryPause);
  }
}

void JobBoard::Release(Entry& entry) {
  entry.ticket = nullptr;
  if (std::exchange(entry.active, false)) --active_;
}

void JobBoard::Attach(NewJob job, std::function<void()> cancel) {
  const auto entry = std::make_shared<Entry>(
      Entry{.record = {.job = std::move(job), .created = Now()}, .cancel = std::move(cancel)});
  services_.journal.Note(entry->record);
  open_.emplace(entry->record.job.job_id, entry);
}

void JobBoard::AttachedProgress(const std::string& job_id, ProgressEvent progress) {
  const auto found = open_.find(job_id);
  if (found == open_.end()) return;
  const EntryPtr entry = found->second;
  Show(*entry, std::move(progress));
}

void JobBoard::AttachedEnded(const std::string& job_id, JobEnd end) {
  const auto found = open_.find(job_id);
  if (found == open_.end()) return;
  const EntryPtr entry = found->second;
  Finish(*entry, std::move(end));
}

}  // namespace octavo::server

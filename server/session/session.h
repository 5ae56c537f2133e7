// SPDX-License-Identifier: Apache-2.0
// One call of Optimizer.Optimize without gRPC: spec, admission, upload, run, results.  All work
// runs on the session's own Serial in the disk pool, so the session needs no locks and blocks no
// reactor.  Any thread may call the public methods; they return at once.
//
// Memory per client is bounded: one incoming chunk, one outgoing event, the latest progress.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/log/log.h"
#include "server/pool/event_loop.h"
#include "server/pool/work_pool.h"
#include "server/session/event.h"
#include "server/session/flights.h"
#include "server/session/job_board.h"
#include "server/session/job_probe.h"
#include "server/session/limits.h"
#include "server/session/results.h"
#include "server/session/scheduler.h"
#include "server/session/upload.h"

namespace octavo::server {

// Shared by all sessions; must outlive them.
struct SessionServices {
  Limits limits = {};
  Scheduler& scheduler;
  WorkPool& disk;
  EventLoop& loop;
  JobProbe& probe;
  Flights& flights;
  ResultCache* results = nullptr;        // null: results are not kept
  BlobStore* blobs = nullptr;            // null: uploads are not kept
  std::shared_ptr<JobBoard> board = {};  // null: jobs end with their calls
};

struct Caller {
  std::string client = {};  // the unit of fair scheduling: the peer's address
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

//   SpecArrived              last chunk arrived           job succeeded            last event
//   written and admitted             and digests match
//
//  kSpec ------------> kUpload ------------> kJob ------------> kSending ------------> kEnded
//    |                    |                    |                    |                     ^
//    +--------------------+--------------------+--------------------+---------------------+
//        End(status): invalid spec or chunk, refused admission, idle client, deadline,
//        cancellation, shutdown, failed job
//
// kEnded waits for the write in flight, if any; Transport::Finish is the last call.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `transport` must live until the session calls its Finish.
  static std::shared_ptr<Session> Start(SessionServices& services, Transport& transport,
                                        Caller caller);

  void SpecArrived(Result<JobSpec> spec);
  void ChunkArrived(uint32_t blob, uint64_t offset, std::string bytes);
  void InputEnded();
  void Written(bool ok);
  void Cancelled();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { kSpec, kUpload, kJob, kSending, kEnded };

  Session(SessionServices& services, Transport& transport, Caller caller);
  void Post(std::function<void(Session&)> step);
  void HandleSpec(Result<JobSpec> spec);
  void Admit(const JobSpec& spec);
  void Accept(bool only_needed);

  // session_upload.cc
  void HandleChunk(uint32_t blob, uint64_t offset, const Blob& bytes);
  void HandleInputEnd();
  void HandleDrain();
  void EndIncomplete();
  Status OpenUploads(const JobSpec& spec);
  Status StoreChunk(uint32_t blob, uint64_t offset, const Blob& bytes);
  bool UploadComplete() const;
  Result<job::Request> BuildRequest();

  // session_run.cc
  // Sends the result of the job if it is kept.
  bool AnswerFromCache();
  // Waits for an equal job's result if it is queued or runs.
  bool JoinFlight();
  void SetJoined();
  // Gives the job to the board and ends the call.
  void Detach();
  void SubmitJob();
  Flights::Waiter MakeWaiter();
  void HandleFinished(const FinishedRun& finished);
  void Send(const JobResult& result);

  void End(CallStatus status);
  void End(Error error) { End(CallStatus{.error = std::move(error)}); }
  // Starts the next write unless one is in flight; finishes the call after the last write.
  void Pump();
  std::optional<Event> NextEvent();
  std::optional<Event> NextProgress();
  void FinishNow();
  void RecordEnd();
  log::Fields LogFields(log::Fields more = log::Fields::object()) const;
  // The board lists the job, too.
  void Attach();
  void EndAttached();
  void ArmDeadline();
  void ArmWatch();
  void CheckPace();

  SessionServices& services_;
  Transport* transport_;
  const Caller caller_;
  Serial serial_;
  Stage stage_ = Stage::kSpec;
  const Clock::time_point begun_ = Clock::now();
  const std::string job_id_;

  Options options_;
  std::string action_digest_;
  std::string model_name_;  // shortened
  bool no_cache_ = false;
  int priority_ = 0;
  std::optional<NewJob> detached_;  // of a job that outlives the call, and
  JobSpec spec_;                    // its spec
  StoredResult result_;             // for the board
  JobSource source_ = JobSource::kExecuted;
  bool admitted_ = false;  // or answered without a job of its own
  std::vector<Upload> uploads_;
  uint64_t received_ = 0;
  std::unique_ptr<Scheduler::Reservation> reservation_;  // until the job is submitted
  std::unique_ptr<Flights::Ticket> ticket_;              // from then on
  Clock::time_point progress_sent_ = {};
  std::string progress_at_;

  bool write_under_way_ = false;
  bool cancelled_ = false;
  std::optional<Event> accepted_;
  std::optional<Results> results_;
  std::optional<Event> last_;
  uint64_t sent_ = 0;
  std::optional<CallStatus> status_;

  EventLoop::Timer deadline_timer_;
  EventLoop::Timer watch_timer_;
  EventLoop::Timer input_timer_;
  uint64_t received_at_watch_ = 0;
  uint64_t writes_ = 0;
  uint64_t writes_at_watch_ = 0;
};

}  // namespace octavo::server

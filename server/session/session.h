// One call of Optimizer.Optimize without gRPC: spec, admission, upload, run, results.  Everything
// happens on the session's own Serial in the disk pool, so nothing here locks or blocks a reactor;
// the calls of the first block may come from any thread and return at once.
//
// What a client can make the session hold is bounded: one chunk on its way in, one event on its
// way out, and of progress only the latest.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/pool/event_loop.h"
#include "server/pool/work_pool.h"
#include "server/session/event.h"
#include "server/session/job_probe.h"
#include "server/session/limits.h"
#include "server/session/progress_slot.h"
#include "server/session/results.h"
#include "server/session/scheduler.h"
#include "server/session/upload.h"

namespace octavo::server {

// What every session shares.
struct House {
  Limits limits = {};
  Scheduler& scheduler;
  WorkPool& disk;
  EventLoop& loop;
  JobProbe& probe;
};

struct Caller {
  std::string client = {};  // takes turns as one
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // `transport` lives until its Finish.
  static std::shared_ptr<Session> Start(House& house, Transport& transport, Caller caller);

  void SpecArrived(Result<JobSpec> spec);
  void ChunkArrived(uint32_t blob, uint64_t offset, std::string bytes);
  void InputEnded();
  void Written(bool ok);
  void Cancelled();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { kSpec, kUpload, kJob, kSending, kEnding };

  Session(House& house, Transport& transport, Caller caller);
  void Post(std::function<void(Session&)> step);
  void HandleSpec(Result<JobSpec> spec);
  void HandleChunk(uint32_t blob, uint64_t offset, std::string_view bytes);
  void HandleInputEnd();
  void EndIncomplete();
  Status OpenUploads(const JobSpec& spec);
  Status StoreChunk(uint32_t blob, uint64_t offset, std::string_view bytes);
  bool UploadComplete() const;
  Result<job::Request> BuildRequest();
  void SubmitJob();
  void HandleOutcome(Result<job::Outcome> outcome);
  void End(Ending ending);
  void End(Error error) { End(Ending{.error = std::move(error)}); }
  // Hands the transport what is due next, if nothing is on its way.
  void Pump();
  std::optional<Event> NextEvent();
  std::optional<Event> NextProgress();
  void FinishNow();
  void RecordEnd();
  void ArmDeadline();
  void ArmWatch();
  void CheckPace();

  House& house_;
  Transport* transport_;
  const Caller caller_;
  Serial serial_;
  Stage stage_ = Stage::kSpec;
  const Clock::time_point begun_ = Clock::now();
  const std::string job_id_;

  job::Options options_;
  std::vector<Upload> uploads_;
  uint64_t received_ = 0;
  std::unique_ptr<Scheduler::Place> place_;
  std::shared_ptr<ProgressSlot> progress_;
  Clock::time_point progress_sent_ = {};
  std::string progress_at_;

  bool write_under_way_ = false;
  bool cancelled_ = false;
  std::optional<Event> accepted_;
  std::optional<Results> results_;
  std::optional<Event> last_;
  uint64_t sent_ = 0;
  std::optional<Ending> ending_;

  EventLoop::Timer deadline_timer_;
  EventLoop::Timer watch_timer_;
  EventLoop::Timer input_timer_;
  uint64_t received_at_watch_ = 0;
  uint64_t writes_ = 0;
  uint64_t writes_at_watch_ = 0;
};

}  // namespace octavo::server

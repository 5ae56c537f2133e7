// SPDX-License-Identifier: Apache-2.0
#include "server/session/session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/log/log.h"
#include "server/session/job_id.h"
#include "server/session/kept_result.h"

namespace octavo::server {
namespace {

constexpr auto kProgressPause = std::chrono::milliseconds(50);

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A name is a client's text, and a line has other fields.
constexpr size_t kMostNameBytes = 256;

}  // namespace

Session::Session(SessionServices& services, Transport& transport, Caller caller)
    : services_(services),
      transport_(&transport),
      caller_(std::move(caller)),
      serial_(services.disk.MakeSerial()),
      job_id_(NewJobId()) {}

std::shared_ptr<Session> Session::Start(SessionServices& services, Transport& transport,
                                        Caller caller) {
  std::shared_ptr<Session> session(new Session(services, transport, std::move(caller)));
  session->Post([](Session& self) {
    self.ArmDeadline();
    self.ArmWatch();
    self.transport_->Read();
  });
  return session;
}

// FinishNow clears the transport; later steps do nothing.
void Session::Post(std::function<void(Session&)> step) {
  serial_.Post([self = shared_from_this(), step = std::move(step)]() mutable {
    if (self->transport_ != nullptr) step(*self);
  });
}

void Session::SpecArrived(Result<JobSpec> spec) {
  Post([spec = std::move(spec)](Session& self) mutable { self.HandleSpec(std::move(spec)); });
}
void Session::ChunkArrived(uint32_t blob, uint64_t offset, std::string bytes) {
  Post([blob, offset, chunk = Blob(std::move(bytes))](Session& self) {
    self.HandleChunk(blob, offset, chunk);
  });
}
void Session::InputEnded() {
  Post([](Session& self) { self.HandleInputEnd(); });
}
void Session::Written(bool ok) {
  Post([ok](Session& self) {
    self.write_under_way_ = false;
    ++self.writes_;
    if (!ok) self.cancelled_ = true;
    self.Pump();
  });
}

void Session::Cancelled() {
  Post([](Session& self) {
    self.cancelled_ = true;
    const bool late = self.caller_.deadline && Clock::now() >= *self.caller_.deadline;
    self.End(late ? ClientDeadline()
                  : Fail(Code::kCancelled, "the client cancelled the call").error());
  });
}

void Session::HandleSpec(Result<JobSpec> spec) {
  if (stage_ == Stage::kEnded) return;
  if (!spec) return End(spec.error());
  if (stage_ != Stage::kSpec) {
    return End(Fail(Code::kInvalidArgument, "a second spec in a call; each call is one job")
                   .Field("spec")
                   .Reason("INVALID_SPEC")
                   .error());
  }
  if (auto ok = CheckSpec(*spec, services_.limits); !ok) {
    if (ok.error().code == Code::kTooLarge) services_.probe.Rejected(RejectReason::kTooLarge);
    return End(ok.error());
  }
  options_ = std::move(spec->options);
  action_digest_ = std::move(spec->action_digest);
  model_name_ = log::Shortened(ModelNameOf(*spec), kMostNameBytes);
  no_cache_ = spec->no_cache;
  priority_ = spec->priority;
  if (spec->detached) {
    if (services_.board == nullptr) return End(NoBoard());
    detached_ = std::move(spec->detached);
    spec_ = *spec;
    spec_.options = options_;
    spec_.action_digest = action_digest_;
    return Admit(*spec);
  }
  if (AnswerFromCache() || JoinFlight()) {
    admitted_ = true;
    Accept(/*only_needed=*/true);
    transport_->Read();
    return Pump();
  }
  Admit(*spec);
}

void Session::Admit(const JobSpec& spec) {
  auto reservation =
      services_.scheduler.Admit(caller_.client, EstimateFootprint(spec), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self) self->Post([](Session& session) { session.HandleDrain(); });
      });
  if (!reservation) return End(std::move(reservation).error());
  reservation_ = std::move(*reservation);
  admitted_ = true;
  if (auto ok = OpenUploads(spec); !ok) return End(ok.error());
  uint64_t found = 0;
  for (const Upload& upload : uploads_) found += upload.found();
  if (found > 0) {
    auto room = services_.scheduler.Store(*reservation_, found);
    if (!room) return End(std::move(room).error());
  }
  stage_ = Stage::kUpload;
  Accept(/*only_needed=*/services_.blobs != nullptr);
  log::Info("job admitted", LogFields({{"queue_position", reservation_->queue_position()},
                                       {"bytes_found", found}}));
  transport_->Read();
  if (UploadComplete()) SubmitJob();
  Pump();
}

void Session::Accept(bool only_needed) {
  Accepted accepted{.job_id = job_id_, .action_digest = action_digest_, .only_needed = only_needed};
  if (reservation_) accepted.queue_position = reservation_->queue_position();
  if (ticket_) accepted.queue_position = ticket_->queue_position();
  for (size_t i = 0; only_needed && i < uploads_.size(); ++i) {
    if (uploads_[i].complete()) continue;
    accepted.needed.push_back({.blob = static_cast<uint32_t>(i), .offset = uploads_[i].received()});
  }
  accepted_ = std::move(accepted);
  if (services_.board != nullptr && !detached_) Attach();
}

void Session::Attach() {
  NewJob job = {.job_id = job_id_,
                .client = caller_.client,
                .model = model_name_,
                .action = action_digest_,
                .priority = priority_};
  services_.board->Post([job = std::move(job), weak = weak_from_this()](JobBoard& board) {
    board.Attach(job, [weak] {
      const auto self = weak.lock();
      if (!self) return;
      self->Post([](Session& session) {
        session.End(Fail(Code::kCancelled, "the job was cancelled by another call")
                        .Reason("CANCELLED")
                        .error());
      });
    });
  });
}

void Session::EndAttached() {
  JobEnd end = {.state = JobState::kSucceeded, .error = status_->error, .result = result_};
  if (end.error) {
    const bool cancelled = end.error->code == Code::kCancelled;
    end.state = cancelled ? JobState::kCancelled : JobState::kFailed;
  }
  services_.board->Post(
      [id = job_id_, end = std::move(end)](JobBoard& board) { board.AttachedEnded(id, end); });
}

void Session::End(CallStatus status) {
  if (stage_ != Stage::kEnded) {
    stage_ = Stage::kEnded;
    status_ = std::move(status);
    const bool of_disk = status_->error && status_->error->reason == "STORAGE";
    if (of_disk && !status_->retry_after) status_->retry_after = kStorageRetry;
    ticket_ = nullptr;
    uploads_.clear();
    results_.reset();
  }
  Pump();
}

void Session::Pump() {
  if (transport_ == nullptr || write_under_way_) return;
  if (stage_ == Stage::kEnded) return FinishNow();
  if (cancelled_) return;  // Cancelled() follows and ends the session.
  auto event = NextEvent();
  if (event) {
    write_under_way_ = true;
    if (const auto* chunk = std::get_if<ChunkEvent>(&*event)) {
      sent_ += chunk->bytes.size();
      services_.probe.Downloaded(chunk->bytes.size());
    }
    return transport_->Write(std::move(*event));
  }
  if (stage_ == Stage::kSending) {
    stage_ = Stage::kEnded;
    status_ = CallStatus{};
    FinishNow();
  }
}

std::optional<Event> Session::NextEvent() {
  if (accepted_) return std::exchange(accepted_, std::nullopt);
  if (auto progress = NextProgress()) return progress;
  if (stage_ != Stage::kSending) return std::nullopt;
  if (auto event = results_->Next()) return event;
  return std::exchange(last_, std::nullopt);
}

// Limits the rate of progress events; always sends the first and the last of a stage or pass.
std::optional<Event> Session::NextProgress() {
  auto progress = ticket_ ? ticket_->Take() : std::nullopt;
  if (!progress) return std::nullopt;
  const std::string at = progress->stage + '/' + progress->pass;
  const bool must_send =
      at != progress_at_ || progress->done == progress->total || stage_ == Stage::kSending;
  if (!must_send && Clock::now() - progress_sent_ < kProgressPause) return std::nullopt;
  progress_at_ = at;
  progress_sent_ = Clock::now();
  if (services_.board != nullptr && !detached_) {
    services_.board->Post(
        [id = job_id_, shown = *progress](JobBoard& board) { board.AttachedProgress(id, shown); });
  }
  return Event(std::move(*progress));
}

void Session::FinishNow() {
  deadline_timer_.Cancel();
  watch_timer_.Cancel();
  input_timer_.Cancel();
  RecordEnd();
  reservation_ = nullptr;
  ticket_ = nullptr;
  std::exchange(transport_, nullptr)->Finish(std::move(*status_));
}

void Session::RecordEnd() {
  const JobOutcome outcome = OutcomeOf(status_->error);
  const bool refused = IsRefusal(status_->error);
  const double seconds = SecondsSince(begun_);
  // The board counts a detached job.
  if (admitted_ && !refused && !detached_) services_.probe.Ended(outcome, source_, seconds);
  if (admitted_ && !detached_ && services_.board != nullptr) EndAttached();
  log::Fields fields = LogFields({{"seconds", seconds},
                                  {"bytes_received", received_},
                                  {"bytes_sent", sent_},
                                  {"outcome", refused ? "refused" : NameOf(outcome)},
                                  {"source", NameOf(source_)},
                                  {"admitted", admitted_}});
  if (status_->error) {
    fields["reason"] = status_->error->reason;
    fields["message"] = status_->error->message;
  }
  log::Info("job ended", std::move(fields));
}

// What every line about this job has, and `more`.
log::Fields Session::LogFields(log::Fields more) const {
  more["job_id"] = job_id_;
  more["action_digest"] = action_digest_;
  more["client"] = caller_.client;
  more["model"] = model_name_;
  return more;
}

void Session::ArmDeadline() {
  if (!caller_.deadline) return;
  const std::weak_ptr<Session> weak = weak_from_this();
  deadline_timer_ = services_.loop.After(*caller_.deadline - Clock::now(), [weak] {
    if (const auto self = weak.lock()) {
      self->Post([](Session& session) { session.End(ClientDeadline()); });
    }
  });
}

void Session::ArmWatch() {
  const std::weak_ptr<Session> weak = weak_from_this();
  watch_timer_ = services_.loop.After(services_.limits.upload_idle_timeout, [weak] {
    if (const auto self = weak.lock()) {
      self->Post([](Session& session) { session.CheckPace(); });
    }
  });
}

// Runs once per idle timeout.  Without it, a client that uploads below the minimum rate or does not
// read would block a reservation that other jobs need.
void Session::CheckPace() {
  const double period = std::chrono::duration<double>(services_.limits.upload_idle_timeout).count();
  const auto least =
      static_cast<uint64_t>(static_cast<double>(services_.limits.upload_min_rate) * period);
  const bool uploading = stage_ == Stage::kSpec || stage_ == Stage::kUpload;
  if (write_under_way_ && writes_ == writes_at_watch_) {
    End(Fail(Code::kDeadlineExceeded, "the client did not read for {} s", period)
            .Reason("DOWNLOAD_IDLE")
            .error());
    transport_->Abort();
    return;
  }
  if (uploading && received_ - received_at_watch_ < std::max<uint64_t>(1, least)) {
    return End(Fail(Code::kDeadlineExceeded,
                    "the client uploaded {} bytes in {} s; the minimum is {}",
                    received_ - received_at_watch_, period, least)
                   .Reason("UPLOAD_IDLE")
                   .error());
  }
  received_at_watch_ = received_;
  writes_at_watch_ = writes_;
  ArmWatch();
}

}  // namespace octavo::server

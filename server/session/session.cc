// SPDX-License-Identifier: Apache-2.0
#include "server/session/session.h"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

#include "server/log/log.h"

namespace octavo::server {
namespace {

constexpr auto kProgressPause = std::chrono::milliseconds(50);
constexpr auto kBreakPause = std::chrono::milliseconds(20);

std::string NewJobId() {
  std::random_device entropy;
  const auto word = [&] { return (static_cast<uint64_t>(entropy()) << 32) | entropy(); };
  return fmt::format("{:016x}{:016x}", word(), word());
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

JobOutcome OutcomeOf(const CallStatus& status) {
  if (!status.error) return JobOutcome::kSucceeded;
  return status.error->code == Code::kCancelled ? JobOutcome::kCancelled : JobOutcome::kFailed;
}

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
  Post([blob, offset, bytes = std::move(bytes)](Session& self) {
    self.HandleChunk(blob, offset, bytes);
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
    self.End(late ? Fail(Code::kDeadlineExceeded, "the client's deadline passed").error()
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
  auto reservation = services_.scheduler.Admit(caller_.client, EstimateFootprint(*spec));
  if (!reservation) return End(std::move(reservation).error());
  reservation_ = std::move(*reservation);
  options_ = std::move(spec->options);
  if (auto ok = OpenUploads(*spec); !ok) return End(ok.error());
  stage_ = Stage::kUpload;
  accepted_ = Accepted{.job_id = job_id_, .queue_position = reservation_->queue_position()};
  log::Info("job admitted", {{"job_id", job_id_},
                             {"client", caller_.client},
                             {"queue_position", reservation_->queue_position()}});
  transport_->Read();
  if (UploadComplete()) SubmitJob();
  Pump();
}

Status Session::OpenUploads(const JobSpec& spec) {
  for (size_t i = 0; i < spec.blobs.size(); ++i) {
    OCTAVO_TRY(Upload upload, Upload::Open(spec.blobs[i], fmt::format("spec.blobs[{}]", i),
                                           services_.limits.state_dir));
    uploads_.push_back(std::move(upload));
  }
  return {};
}

void Session::HandleChunk(uint32_t blob, uint64_t offset, std::string_view bytes) {
  if (stage_ == Stage::kEnded) return;
  if (services_.scheduler.draining() && stage_ == Stage::kUpload) return End(Draining());
  if (stage_ == Stage::kUpload) {
    auto room = services_.scheduler.Store(*reservation_, bytes.size());
    if (!room) return End(std::move(room).error());
  }
  if (auto ok = StoreChunk(blob, offset, bytes); !ok) return End(ok.error());
  transport_->Read();
  if (UploadComplete()) SubmitJob();
}

Status Session::StoreChunk(uint32_t blob, uint64_t offset, std::string_view bytes) {
  const auto invalid = [](std::string_view field, std::string message) -> Status {
    return Fail(Code::kInvalidArgument, "{}", message).Field(field).Reason("INVALID_CHUNK");
  };
  if (stage_ == Stage::kSpec) return invalid("chunk", "a chunk precedes the spec");
  if (stage_ != Stage::kUpload) return invalid("chunk", "a chunk follows the end of the last blob");
  if (blob >= uploads_.size()) {
    return invalid("chunk.blob",
                   fmt::format("blob {} is not one of the {} in the spec", blob, uploads_.size()));
  }
  if (bytes.empty()) return invalid("chunk.data", "a chunk without bytes");
  OCTAVO_CHECK(uploads_[blob].Add(offset, bytes));
  received_ += bytes.size();
  services_.probe.Uploaded(bytes.size());
  return {};
}

bool Session::UploadComplete() const {
  return stage_ == Stage::kUpload && std::all_of(uploads_.begin(), uploads_.end(),
                                                 [](const Upload& u) { return u.complete(); });
}

void Session::HandleInputEnd() {
  if (stage_ == Stage::kSpec) {
    return End(Fail(Code::kInvalidArgument, "the stream ended without a spec")
                   .Field("spec")
                   .Reason("INVALID_SPEC")
                   .error());
  }
  if (stage_ != Stage::kUpload) return;
  // A broken call ends its input just before its cancellation arrives; this pause tells a
  // half-close from a cancellation.
  const std::weak_ptr<Session> weak = weak_from_this();
  input_timer_ = services_.loop.After(kBreakPause, [weak] {
    if (const auto self = weak.lock()) {
      self->Post([](Session& session) { session.EndIncomplete(); });
    }
  });
}

void Session::EndIncomplete() {
  for (size_t i = 0; i < uploads_.size(); ++i) {
    if (uploads_[i].complete()) continue;
    const std::string field = fmt::format("spec.blobs[{}]", i);
    return End(Fail(Code::kInvalidArgument, "{}: the stream ended after {} of {} bytes", field,
                    uploads_[i].received(), uploads_[i].info().size_bytes)
                   .Field(field)
                   .Reason("INCOMPLETE_UPLOAD")
                   .error());
  }
}

Result<job::Request> Session::BuildRequest() {
  job::Request request{
      .options = options_,
      .limits = {.nodes = static_cast<int64_t>(services_.limits.nodes),
                 .value_bytes = static_cast<int64_t>(services_.limits.value_bytes)}};
  const int most = services_.limits.job_threads;
  request.options.threads = options_.threads > 0 ? std::min(options_.threads, most) : most;
  for (Upload& upload : uploads_) {
    OCTAVO_TRY(Blob bytes, upload.Seal());
    job::NamedBlob blob{.name = upload.info().name, .bytes = std::move(bytes)};
    switch (upload.info().role) {
      case Role::kModel:
        request.model = std::move(blob);
        break;
      case Role::kExternal:
        request.external_data.push_back(std::move(blob));
        break;
      case Role::kProfile:
        request.profile = std::move(blob);
        break;
      case Role::kSamples:
        request.samples.push_back(std::move(blob));
        break;
      case Role::kTarget:
        request.target = std::move(blob);
        break;
      case Role::kOptimizedModel:
      case Role::kReport:
      case Role::kSnapshot:
        return Fail(Code::kInternal, "a result role passed the check of the spec");
    }
  }
  uploads_.clear();
  return request;
}

void Session::SubmitJob() {
  auto request = BuildRequest();
  if (!request) return End(request.error());
  stage_ = Stage::kJob;
  log::Debug("job uploaded", {{"job_id", job_id_}});
  const std::weak_ptr<Session> weak = weak_from_this();
  progress_ = std::make_shared<ProgressSlot>(services_.probe, [weak] {
    if (const auto self = weak.lock()) self->Post([](Session& session) { session.Pump(); });
  });
  progress_->Put({.stage = "queue", .done = 0, .total = 0});
  auto queued = services_.scheduler.Submit(
      *reservation_, {.request = std::move(*request),
                      .deadline = caller_.deadline,
                      .observer = [slot = progress_](const job::Progress& p) { slot->Put(p); },
                      .done =
                          [self = shared_from_this()](Result<job::Outcome> outcome) {
                            self->progress_->Close();
                            if (outcome) self->services_.probe.Computed(*outcome);
                            self->Post([outcome = std::move(outcome)](Session& session) mutable {
                              session.HandleOutcome(std::move(outcome));
                            });
                          }});
  if (!queued) End(std::move(queued).error());
}

void Session::HandleOutcome(Result<job::Outcome> outcome) {
  if (stage_ == Stage::kEnded) return;
  if (!outcome) {
    if (outcome.error().reason == "DRAINING") return End(Draining());
    return End(outcome.error());
  }
  last_ = Finished{.gate_failed = outcome->gate_failed, .message = outcome->message};
  results_.emplace(std::move(*outcome));
  stage_ = Stage::kSending;
  Pump();
}

void Session::End(CallStatus status) {
  if (stage_ != Stage::kEnded) {
    stage_ = Stage::kEnded;
    status_ = std::move(status);
    if (reservation_) services_.scheduler.Cancel(*reservation_);
    uploads_.clear();
    results_.reset();
  }
  Pump();
}

void Session::Pump() {
  if (write_under_way_) return;
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
  auto progress = progress_ ? progress_->Take() : std::nullopt;
  if (!progress) return std::nullopt;
  const std::string at = progress->stage + '/' + progress->pass;
  const bool must_send =
      at != progress_at_ || progress->done == progress->total || stage_ == Stage::kSending;
  if (!must_send && Clock::now() - progress_sent_ < kProgressPause) return std::nullopt;
  progress_at_ = at;
  progress_sent_ = Clock::now();
  return Event(std::move(*progress));
}

void Session::FinishNow() {
  deadline_timer_.Cancel();
  watch_timer_.Cancel();
  input_timer_.Cancel();
  RecordEnd();
  reservation_.reset();
  std::exchange(transport_, nullptr)->Finish(std::move(*status_));
}

void Session::RecordEnd() {
  const JobOutcome outcome = OutcomeOf(*status_);
  const double seconds = SecondsSince(begun_);
  if (reservation_) services_.probe.Ended(outcome, seconds);
  log::Fields fields = {{"job_id", job_id_},
                        {"client", caller_.client},
                        {"seconds", seconds},
                        {"bytes_received", received_},
                        {"bytes_sent", sent_},
                        {"outcome", NameOf(outcome)},
                        {"admitted", reservation_ != nullptr}};
  if (status_->error) {
    fields["reason"] = status_->error->reason;
    fields["message"] = status_->error->message;
  }
  log::Info("job ended", std::move(fields));
}

void Session::ArmDeadline() {
  if (!caller_.deadline) return;
  const std::weak_ptr<Session> weak = weak_from_this();
  deadline_timer_ = services_.loop.After(*caller_.deadline - Clock::now(), [weak] {
    if (const auto self = weak.lock()) {
      self->Post([](Session& session) {
        session.End(Fail(Code::kDeadlineExceeded, "the client's deadline passed").error());
      });
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

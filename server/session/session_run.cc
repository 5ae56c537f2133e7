// SPDX-License-Identifier: Apache-2.0
// The part of a session that gets its job's result: kept, from an equal job's run, or from its own.
#include <utility>

#include "server/log/log.h"
#include "server/session/kept_result.h"
#include "server/session/session.h"

namespace octavo::server {

bool Session::AnswerFromCache() {
  if (services_.results == nullptr || no_cache_ || services_.scheduler.draining()) return false;
  const KeptResult kept = FindKept(*services_.results, action_digest_);
  services_.probe.CacheAsked(kept.answer);
  if (!kept.result) return false;
  source_ = JobSource::kCache;
  Send(*kept.result);
  return true;
}

bool Session::JoinFlight() {
  if (no_cache_ || services_.scheduler.draining()) return false;
  ticket_ = services_.flights.Join(action_digest_, MakeWaiter());
  if (!ticket_) return false;
  SetJoined();
  stage_ = Stage::kJob;
  return true;
}

void Session::SetJoined() {
  source_ = JobSource::kJoined;
  log::Info("job joined", LogFields());
}

Flights::Waiter Session::MakeWaiter() {
  const std::weak_ptr<Session> weak = weak_from_this();
  return {.progress =
              [weak] {
                if (const auto self = weak.lock()) self->Post([](Session& s) { s.Pump(); });
              },
          .ended =
              [weak](const FinishedRun& finished) {
                if (const auto self = weak.lock()) {
                  self->Post([finished](Session& s) { s.HandleFinished(finished); });
                }
              }};
}

void Session::SubmitJob() {
  if (detached_) return Detach();
  auto request = BuildRequest();
  if (!request) return End(request.error());
  stage_ = Stage::kJob;
  log::Debug("job uploaded", LogFields());
  // A job that must compute again neither joins another nor is joined.
  auto ticket =
      services_.flights.Run(no_cache_ ? std::string() : action_digest_, std::move(reservation_),
                            std::move(*request), priority_, MakeWaiter());
  if (!ticket) return End(std::move(ticket).error());
  ticket_ = std::move(*ticket);
  if (ticket_->joined()) SetJoined();
  Pump();  // the ticket has progress already
}

// The blobs are in the store as soon as they are sealed; the board takes them from there.
void Session::Detach() {
  std::vector<Blob> held;
  for (Upload& upload : uploads_) {
    auto sealed = upload.Seal();
    if (!sealed) return End(sealed.error());
    held.push_back(std::move(*sealed));
  }
  stage_ = Stage::kJob;
  reservation_ = nullptr;
  services_.board->Post([self = shared_from_this(), held](JobBoard& board) {
    NewJob job = *self->detached_;
    job.job_id = self->job_id_;
    job.client = self->caller_.client;
    CallStatus status;
    if (auto view = board.Submit(std::move(job), self->spec_); !view) status = view.error();
    self->Post([status = std::move(status)](Session& session) { session.End(status); });
  });
}

void Session::HandleFinished(const FinishedRun& finished) {
  if (stage_ == Stage::kEnded) return;
  if (!finished) {
    if (finished.error().reason == "DRAINING") return End(Draining());
    if (finished.error().reason == "OVERLOADED") {
      return End({.error = finished.error(), .retry_after = std::chrono::seconds(1)});
    }
    return End(finished.error());
  }
  if (no_cache_ && services_.results != nullptr) {
    auto same =
        CompareOrKeep(*services_.results, action_digest_, **finished, options_.deterministic);
    if (!same) return End(same.error());
  }
  Send(**finished);
  Pump();
}

void Session::Send(const JobResult& result) {
  last_ = Finished{.gate_failed = result.gate_failed,
                   .message = result.message,
                   .action_digest = action_digest_,
                   .source = source_};
  if (services_.board != nullptr) result_ = StoredOf(result);
  results_.emplace(result.items);
  stage_ = Stage::kSending;
}

}  // namespace octavo::server

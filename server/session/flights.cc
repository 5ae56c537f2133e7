// SPDX-License-Identifier: Apache-2.0
#include "server/session/flights.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "server/session/kept_result.h"

namespace octavo::server {

using Clock = std::chrono::steady_clock;

// The mutex of the state guards it.
struct Flights::Ticket::Place {
  std::shared_ptr<Flight> flight = {};
  Waiter waiter = {};
  bool has_news = false;
};

struct Flights::State {
  Scheduler& scheduler;
  WorkPool& disk;
  JobProbe& probe;
  ResultCache* results = nullptr;

  std::mutex mutex = {};
  std::condition_variable landed = {};
  int under_way = 0;                                              // flights that exist
  std::map<std::string, std::shared_ptr<Flight>> by_action = {};  // those that can be joined
};

// One run.
struct Flights::Flight {
  Flight(State& given, std::string key) : all(given), action(std::move(key)) {
    const std::lock_guard lock(all.mutex);
    ++all.under_way;
  }
  ~Flight() {
    reservation = nullptr;
    const std::lock_guard lock(all.mutex);
    --all.under_way;
    all.landed.notify_all();
  }
  void Put(const job::Progress& progress);
  void EndStage(Clock::time_point now);
  void End(Result<job::Outcome> outcome);
  FinishedRun Land(Result<job::Outcome> outcome);
  // The caller holds the mutex.
  void LeaveMap();

  State& all;
  const std::string action;
  std::unique_ptr<Scheduler::Reservation> reservation;
  std::vector<std::shared_ptr<Ticket::Place>> places;
  std::optional<ProgressEvent> latest;
  bool ended = false;
  std::string stage;
  Clock::time_point stage_begun = {};
};

void Flights::Flight::EndStage(Clock::time_point now) {
  if (stage.empty()) return;
  all.probe.StageTook(stage, std::chrono::duration<double>(now - stage_begun).count());
}

void Flights::Flight::LeaveMap() {
  const auto found = all.by_action.find(action);
  if (found != all.by_action.end() && found->second.get() == this) all.by_action.erase(found);
}

// A new event replaces the previous one, so a slow client costs no memory.
void Flights::Flight::Put(const job::Progress& progress) {
  std::vector<std::shared_ptr<Ticket::Place>> wake;
  {
    const std::lock_guard lock(all.mutex);
    if (progress.stage != stage) {
      const auto now = Clock::now();
      EndStage(now);
      stage = progress.stage;
      stage_begun = now;
    }
    latest = ProgressEvent{.stage = std::string(progress.stage),
                           .pass = std::string(progress.pass),
                           .done = progress.done,
                           .total = progress.total};
    for (const auto& place : places) {
      if (!std::exchange(place->has_news, true)) wake.push_back(place);
    }
  }
  for (const auto& place : wake) place->waiter.progress();
}

FinishedRun Flights::Flight::Land(Result<job::Outcome> outcome) {
  if (!outcome) return Forward(std::move(outcome).error());
  all.probe.Computed(*outcome);
  const auto result = std::make_shared<const JobResult>(ResultOf(std::move(*outcome)));
  if (!action.empty() && all.results != nullptr) KeepResult(*all.results, action, *result);
  return result;
}

// In the pool for disk work.
void Flights::Flight::End(Result<job::Outcome> outcome) {
  const FinishedRun finished = Land(std::move(outcome));
  std::vector<std::shared_ptr<Ticket::Place>> waiting;
  {
    const std::lock_guard lock(all.mutex);
    EndStage(Clock::now());
    ended = true;
    LeaveMap();
    waiting = std::move(places);
  }
  for (const auto& place : waiting) place->waiter.ended(finished);
}

Flights::Flights(Scheduler& scheduler, WorkPool& disk, JobProbe& probe)
    : state_(new State{.scheduler = scheduler, .disk = disk, .probe = probe}) {}

void Flights::KeepIn(ResultCache& results) { state_->results = &results; }

Flights::~Flights() {
  std::unique_lock lock(state_->mutex);
  state_->landed.wait(lock, [this] { return state_->under_way == 0; });
}

// The caller holds the mutex.
std::unique_ptr<Flights::Ticket> Flights::Board(const std::shared_ptr<Flight>& flight,
                                                Waiter waiter, bool joined) {
  auto place = std::make_shared<Ticket::Place>(Ticket::Place{
      .flight = flight, .waiter = std::move(waiter), .has_news = flight->latest.has_value()});
  flight->places.push_back(place);
  return std::unique_ptr<Ticket>(new Ticket(*this, std::move(place), joined));
}

std::unique_ptr<Flights::Ticket> Flights::Join(const std::string& action, Waiter waiter) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->by_action.find(action);
  if (found == state_->by_action.end()) return nullptr;
  return Board(found->second, std::move(waiter), /*joined=*/true);
}

Flights::Start Flights::Run(const std::string& action,
                            std::unique_ptr<Scheduler::Reservation> reservation,
                            job::Request request, int priority, Waiter waiter) {
  const auto flight = std::make_shared<Flight>(*state_, action);
  flight->reservation = std::move(reservation);
  Scheduler::Job job{.request = std::move(request),
                     .priority = priority,
                     .observer = [flight](const job::Progress& progress) { flight->Put(progress); },
                     .done =
                         [flight](Result<job::Outcome> outcome) {
                           flight->all.disk.Post([flight, outcome = std::move(outcome)]() mutable {
                             flight->End(std::move(outcome));
                           });
                         }};
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->by_action.find(action); found != state_->by_action.end()) {
    return Board(found->second, std::move(waiter), /*joined=*/true);
  }
  flight->latest = ProgressEvent{.stage = "queue"};
  flight->stage = "queue";
  flight->stage_begun = Clock::now();
  // The scheduler calls neither the observer nor `done` from here.
  if (auto queued = state_->scheduler.Submit(*flight->reservation, std::move(job)); !queued) {
    return tl::unexpected<CallStatus>(std::move(queued).error());
  }
  if (!action.empty()) state_->by_action.emplace(action, flight);
  return Board(flight, std::move(waiter), /*joined=*/false);
}

Flights::Ticket::~Ticket() {
  const std::shared_ptr<Flight> flight = place_->flight;
  bool last = false;
  {
    const std::lock_guard lock(flight->all.mutex);
    std::erase(flight->places, place_);
    last = flight->places.empty() && !flight->ended;
    if (last) flight->LeaveMap();
  }
  if (last) flight->all.scheduler.Cancel(*flight->reservation);
}

std::optional<ProgressEvent> Flights::Ticket::Take() {
  const std::lock_guard lock(place_->flight->all.mutex);
  if (!std::exchange(place_->has_news, false)) return std::nullopt;
  return place_->flight->latest;
}

uint32_t Flights::Ticket::queue_position() const {
  return place_->flight->reservation->queue_position();
}

}  // namespace octavo::server

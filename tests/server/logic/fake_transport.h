// SPDX-License-Identifier: Apache-2.0
// The client side of a session, controlled by a test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/sha256.h"
#include "server/session/session.h"
#include "tests/server/logic/fake_runner.h"

namespace octavo::server {

class FakeTransport : public Transport {
 public:
  // Keeps writes in flight until Release.
  void HoldWrites() {
    std::lock_guard lock(mutex_);
    holding_ = true;
  }
  void Release() {
    std::unique_lock lock(mutex_);
    holding_ = false;
    if (std::exchange(held_write_, false)) {
      lock.unlock();
      session->Written(true);
    }
  }

  void Read() override {
    std::lock_guard lock(mutex_);
    ++reads_;
    changed_.notify_all();
  }
  void Write(Event event) override {
    {
      std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_all();
      if (holding_) {
        held_write_ = true;
        return;
      }
    }
    session->Written(true);
  }
  void Finish(CallStatus status) override {
    std::lock_guard lock(mutex_);
    status_ = std::move(status);
    changed_.notify_all();
  }
  void Abort() override {
    {
      std::lock_guard lock(mutex_);
      aborted_ = true;
      held_write_ = false;
    }
    session->Written(false);
    session->Cancelled();
  }

  // Waits until the session has requested COUNT messages.
  bool WaitForReads(int count) {
    return Wait([&] { return reads_ >= count; });
  }
  bool WaitForEvents(size_t count) {
    return Wait([&] { return events_.size() >= count; });
  }
  // Waits for progress of this stage.
  bool WaitForStage(std::string_view stage) {
    return Wait([&] {
      return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
        const auto* progress = std::get_if<ProgressEvent>(&event);
        return progress != nullptr && progress->stage == stage;
      });
    });
  }
  // Waits for the final status; fails the test if the session does not end.
  CallStatus WaitForEnd() {
    EXPECT_TRUE(Wait([&] { return status_.has_value(); }));
    std::lock_guard lock(mutex_);
    return status_.value_or(CallStatus{.error = Error{.message = "never ended"}});
  }
  bool ended() {
    std::lock_guard lock(mutex_);
    return status_.has_value();
  }
  bool aborted() {
    std::lock_guard lock(mutex_);
    return aborted_;
  }
  template <class T>
  std::vector<T> Events() {
    std::lock_guard lock(mutex_);
    std::vector<T> found;
    for (const Event& event : events_) {
      if (const T* it = std::get_if<T>(&event)) found.push_back(*it);
    }
    return found;
  }

  std::shared_ptr<Session> session;

 private:
  template <class Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), condition);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
  std::optional<CallStatus> status_;
  int reads_ = 0;
  bool holding_ = false;
  bool held_write_ = false;
  bool aborted_ = false;
};

// A service without gRPC.
struct Fixture {
  explicit Fixture(Limits given = {}) : limits(std::move(given)) {}
  ~Fixture() { loop.Stop(); }  // as the daemon does

  // Opens a call: Start, then the transport's messages.
  void Open(FakeTransport& transport, const std::string& client = "c",
            std::optional<std::chrono::steady_clock::time_point> deadline = {}) {
    transport.session =
        Session::Start(services, transport, {.client = client, .deadline = deadline});
  }
  // Uploads one whole model.
  void Send(FakeTransport& transport, const std::string& model) {
    transport.session->SpecArrived(SpecOf(model));
    if (transport.WaitForReads(2)) transport.session->ChunkArrived(0, 0, model);
  }
  static JobSpec SpecOf(const std::string& model) {
    return {.blobs = {{.role = Role::kModel,
                       .name = "m.onnx",
                       .size_bytes = model.size(),
                       .sha256 = Sha256Of(model)}}};
  }

  Limits limits;
  FakeRunner runner;
  CountingProbe probe;
  EventLoop loop;
  WorkPool disk{2};
  Scheduler scheduler{limits, runner.AsRunner(), probe};
  Flights flights{scheduler, disk, probe};
  SessionServices services{.limits = limits,
                           .scheduler = scheduler,
                           .disk = disk,
                           .loop = loop,
                           .probe = probe,
                           .flights = flights};
};

}  // namespace octavo::server

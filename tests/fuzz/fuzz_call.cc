// SPDX-License-Identifier: Apache-2.0
// Any messages of a call of Optimizer.Optimize, without gRPC: the call ends, with a result or with
// an error other than kInternal, and gives back what it reserved.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "server/convert/message_check.h"
#include "server/convert/spec.h"
#include "server/session/session.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/server/logic/fake_runner.h"

namespace octavo::server {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// A client that sends its messages as they are asked for, and reads what it gets.
class Caller : public Transport {
 public:
  explicit Caller(std::vector<std::string> messages) : messages_(std::move(messages)) {}

  void Read() override {
    const std::lock_guard lock(mutex_);
    ++reads_;
    changed_.notify_all();
  }
  void Write(Event event) override {
    EventToWire(std::move(event));
    session_->Written(true);
  }
  void Finish(CallStatus status) override {
    if (status.error && status.error->code == Code::kInternal) std::abort();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void Abort() override {
    session_->Written(false);
    session_->Cancelled();
  }
  void Run(std::shared_ptr<Session> begun) {
    session_ = std::move(begun);
    while (WaitForRead()) {
      if (next_ == messages_.size()) {
        session_->InputEnded();
      } else {
        Deliver(messages_[next_++]);
      }
    }
  }

 private:
  // False at the end of the call.
  bool WaitForRead() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return ended_ || reads_ > 0; })) std::abort();
    if (ended_) return false;
    --reads_;
    return true;
  }
  void Deliver(const std::string& bytes) {
    static const auto& bounded = *v1::OptimizeRequest::descriptor()->FindFieldByName("spec");
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    auto sound = CheckMessage(stream, bounded, {});
    if (!sound) return session_->SpecArrived(Forward(std::move(sound).error()));
    v1::OptimizeRequest request;
    if (!request.ParseFromString(bytes)) return session_->InputEnded();
    if (request.has_chunk()) {
      const v1::Chunk& chunk = request.chunk();
      return session_->ChunkArrived(chunk.blob(), chunk.offset(), chunk.data());
    }
    session_->SpecArrived(SpecFromWire(request.spec()));
  }

  const std::vector<std::string> messages_;
  size_t next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Session> session_;
  int reads_ = 0;
  bool ended_ = false;
};

struct Service {
  Limits limits;
  FakeRunner runner;
  CountingProbe probe;
  EventLoop loop;
  WorkPool disk{1};
  Scheduler scheduler{limits, runner.AsRunner(), probe};
  Flights flights{scheduler, disk, probe};
  SessionServices services{.limits = limits,
                           .scheduler = scheduler,
                           .disk = disk,
                           .loop = loop,
                           .probe = probe,
                           .flights = flights};
};

void Call(std::vector<std::string> messages) {
  static auto& service = *new Service;
  Caller caller(std::move(messages));
  caller.Run(Session::Start(service.services, caller, {.client = "c"}));
}

}  // namespace
}  // namespace octavo::server

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return octavo::fuzz::MutateMessages(octavo::v1::OptimizeRequest::default_instance(), data, size,
                                      max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  octavo::server::Call(octavo::fuzz::SplitMessages(data, size));
  return 0;
}

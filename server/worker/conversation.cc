// SPDX-License-Identifier: Apache-2.0
#include "server/worker/conversation.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "server/worker/files.h"
#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStopPause{20};     // how often a stop request is looked for
constexpr milliseconds kTimeToStop{1000};  // before SIGKILL
constexpr milliseconds kTimeToEnd{1000};   // after an answer
constexpr size_t kMaxNode = 200;
// However small its estimate, a job may use this much.
constexpr uint64_t kLeastMemory = uint64_t{256} << 20;
// The estimate of the smallest job is higher.
constexpr int64_t kLeastEstimate = int64_t{16} << 20;
constexpr int kFramesPerSecond = 5000;  // a worker sends a few hundred

// Waits until the worker has sent something or has ended; whether it has sent something.
bool WaitForFrames(const Child& child, milliseconds time) {
  std::array<pollfd, 2> events = {pollfd{.fd = child.socket(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = child.process(), .events = POLLIN, .revents = 0}};
  const int found = poll(events.data(), events.size(), static_cast<int>(time.count()));
  // The end of the stream counts: what an ended process sent is still there.
  return found > 0 && (events[0].revents != 0 || events[1].revents != 0);
}

}  // namespace

Result<v1::Hello> Conversation::Greeting(milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  for (;;) {
    v1::FromWorker frame;
    OCTAVO_TRY(const bool found, reader_.Next(frame));
    if (found && frame.has_hello()) return frame.hello();
    if (found) return Fail(Code::kInvalidArgument, "the worker's first frame is no Hello");
    const auto rest = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (rest.count() <= 0 || !WaitForFrames(*child_, rest)) {
      return Fail(Code::kUnavailable, "the worker did not start within {}", timeout.count());
    }
    OCTAVO_TRY(open_, reader_.Receive(/*wait=*/false));
    if (!open_) return Fail(Code::kUnavailable, "the worker ended at its start");
  }
}

Status Conversation::Send(const job::Request& request, const Descriptor& output) {
  for (const RequestBlob& input : BlobsOf(request)) {
    v1::ToWorker frame;
    frame.mutable_input()->set_role(input.role);
    frame.mutable_input()->set_name(input.blob->name);
    frame.mutable_input()->set_size_bytes(input.blob->bytes.size());
    if (input.blob->bytes.empty()) {
      OCTAVO_CHECK(SendFrame(child_->socket(), frame));
      continue;
    }
    OCTAVO_TRY(const auto file, OpenForReading(input.blob->bytes));
    OCTAVO_CHECK(SendFrame(child_->socket(), frame, file->fd));
  }
  v1::ToWorker frame;
  *frame.mutable_job() = JobToWire(request);
  return SendFrame(child_->socket(), frame, output.fd);
}

Result<job::Outcome> Conversation::Run(const job::Request& request, const ChildLimits& limits,
                                       const std::string& folder, const StopToken& stop,
                                       const job::Observer& observer) {
  OCTAVO_TRY(const auto output, NewOutput(folder));
  limits_ = limits;
  most_estimated_ = request.limits.memory_bytes;
  OCTAVO_CHECK(child_->Limit(limits_));
  auto sent = Send(request, *output);
  // A worker that is gone says why below.
  if (!sent && sent.error().code != Code::kUnavailable) return Forward(std::move(sent).error());
  const auto answer = Listen(stop, observer);
  if (!answer) {
    child_->Kill();
    cause_ = Cause::kProtocol;
    return Forward(Crash("broke the protocol: " + answer.error().message));
  }
  if (!*answer) return Forward(WhyEnded(stop));
  // Its results are safe to use once it cannot write any more.
  if (!child_->EndsWithin(kTimeToEnd)) {
    child_->Kill();
    cause_ = Cause::kProtocol;
    return Forward(Crash("broke the protocol: it did not end after its answer"));
  }
  if (Reap().signal != 0) return Forward(WhyEnded(stop));
  cause_ = Cause::kFinished;
  const auto in_words = [&](const Error& error) {
    cause_ = Cause::kProtocol;
    return Crash("broke the protocol: " + error.message);
  };
  if ((*answer)->has_failed()) {
    auto error = ErrorFromWire((*answer)->failed());
    if (!error) return Forward(in_words(error.error()));
    if (error->code == Code::kCancelled) cause_ = Cause::kCancelled;
    // The worker was told to stop, not why.
    if (auto why = stop.Check(); !why && error->code == Code::kCancelled) *error = why.error();
    return Forward(*std::move(error));
  }
  OCTAVO_TRY(const Blob bytes, MapOutput(*output));
  auto outcome = ReadOutcome((*answer)->done(), bytes);
  if (!outcome) return Forward(in_words(outcome.error()));
  return outcome;
}

Result<Conversation::Answer> Conversation::Listen(const StopToken& stop,
                                                  const job::Observer& observer) {
  for (;;) {
    if (!AskToStop(stop)) {
      child_->Kill();
      return Answer();
    }
    OCTAVO_TRY(Answer answer, TakeFrames(observer));
    if (answer || !open_) return answer;
    if (!WaitForFrames(*child_, kStopPause)) continue;
    OCTAVO_TRY(open_, reader_.Receive(/*wait=*/false));
  }
}

// Relays progress; returns the answer once it has come.
Result<Conversation::Answer> Conversation::TakeFrames(const job::Observer& observer) {
  for (;;) {
    v1::FromWorker frame;
    OCTAVO_TRY(const bool found, reader_.Next(frame));
    if (!found) return Answer();
    const auto now = Clock::now();
    if (now - second_begun_ > std::chrono::seconds(1)) {
      second_begun_ = now;
      frames_in_second_ = 0;
    }
    if (++frames_in_second_ > kFramesPerSecond) {
      return Fail(Code::kInvalidArgument, "more than {} frames in a second", kFramesPerSecond);
    }
    if (frame.has_failed() || frame.has_done()) return Answer(std::move(frame));
    if (frame.has_last_words()) {
      TakeLastWords(frame.last_words());
      continue;
    }
    if (!frame.has_progress()) return Fail(Code::kInvalidArgument, "a frame of no known kind");
    OCTAVO_CHECK(Relay(frame.progress(), observer));
  }
}

Status Conversation::Relay(const v1::Progress& progress, const job::Observer& observer) {
  if (!IsStage(progress.stage()) || !IsPass(progress.pass()) || progress.done() < 0 ||
      progress.total() < 0) {
    return Fail(Code::kInvalidArgument, "progress of no known stage");
  }
  stage_ = progress.stage();
  pass_ = progress.pass();
  if (progress.memory_bytes() != 0) OCTAVO_CHECK(TakeEstimate(progress.memory_bytes()));
  if (observer) {
    observer({.stage = stage_,
              .pass = pass_,
              .done = progress.done(),
              .total = progress.total(),
              .memory_bytes = progress.memory_bytes()});
  }
  return {};
}

Status Conversation::TakeEstimate(int64_t bytes) {
  if (estimate_ || bytes < kLeastEstimate || bytes > most_estimated_) {
    return Fail(Code::kInvalidArgument, "an estimate of {} bytes", bytes);
  }
  estimate_ = bytes;
  // A quarter more, and a quarter of that: the allocator rounds large blocks up by so much.
  const uint64_t most = static_cast<uint64_t>(bytes) / 16 * 25;
  limits_.data_bytes = std::min(limits_.data_bytes, std::max(most, kLeastMemory));
  return child_->LimitMemory(limits_);
}

void Conversation::TakeLastWords(const v1::LastWords& words) {
  node_ = words.node().substr(0, kMaxNode);
  std::replace_if(
      node_.begin(), node_.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
}

bool Conversation::AskToStop(const StopToken& stop) {
  if (!stop.StopRequested()) return true;
  if (!kill_at_) {
    kill_at_ = Clock::now() + kTimeToStop;
    v1::ToWorker frame;
    frame.mutable_cancel();
    // A worker that is gone ends the stream as well.
    std::ignore = SendFrame(child_->socket(), frame);
  }
  return Clock::now() < *kill_at_;
}

std::string Conversation::Place() const {
  if (stage_.empty()) return "before its first stage";
  std::string place = fmt::format("in stage {}", stage_);
  if (!pass_.empty()) place += fmt::format(", pass {}", pass_);
  if (!node_.empty()) place += fmt::format(", node '{}'", node_);
  return place;
}

Error Conversation::Crash(std::string what) {
  return Fail(Code::kAborted, "the job's worker {}, {}", what, Place()).Node(node_).error();
}

Error Conversation::WhyEnded(const StopToken& stop) {
  if (!child_->EndsWithin(kTimeToEnd)) child_->Kill();
  const Exit& end = child_->Reap();
  if (auto asked = stop.Check(); !asked) {
    cause_ = Cause::kCancelled;
    return asked.error();
  }
  if (end.exit_code == kExitMemory) {
    cause_ = Cause::kMemory;
    const std::string estimated =
        estimate_ ? fmt::format("; its estimate was {}", *estimate_) : std::string();
    return Fail(Code::kTooLarge, "the job needs more than {} bytes of memory (--job-memory), {}{}",
                limits_.data_bytes, Place(), estimated)
        .Reason("JOB_MEMORY")
        .Node(node_)
        .error();
  }
  if (end.signal == SIGXCPU) {
    cause_ = Cause::kCpu;
    return Fail(Code::kDeadlineExceeded, "the job used {} s of processor time (--job-cpu), {}",
                limits_.cpu.count(), Place())
        .Reason("JOB_TIMEOUT")
        .Node(node_)
        .error();
  }
  if (end.signal == SIGXFSZ) {
    cause_ = Cause::kOutput;
    return Fail(Code::kTooLarge, "the job's results have more than {} bytes", limits_.file_bytes)
        .error();
  }
  cause_ = Cause::kCrashed;
  if (end.signal == 0) return Crash(fmt::format("ended with code {}", end.exit_code));
  const char* name = sigabbrev_np(end.signal);
  return Crash(
      fmt::format("was ended by signal {} (SIG{})", end.signal, name == nullptr ? "?" : name));
}

const Exit& Conversation::Reap() {
  if (!child_->EndsWithin(milliseconds(0))) child_->Kill();
  return child_->Reap();
}

}  // namespace octavo::server::worker

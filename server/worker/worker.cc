// SPDX-License-Identifier: Apache-2.0
#include "server/worker/worker.h"

#include <linux/close_range.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/base/version.h"
#include "server/sandbox/sandbox.h"
#include "server/worker/frames.h"
#include "server/worker/say.h"
#include "server/worker/wire.h"

namespace octavo::server::worker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kUnlockedDescriptors = 64;
constexpr auto kProgressPause = std::chrono::milliseconds(20);

// A job that arrived: its request and the descriptor of its output.
struct Task {
  job::Request request = {};
  std::unique_ptr<Descriptor> output = {};
};

int HighestLevel(int argc, char** argv) {
  const bool given = argc == 3 && std::string_view(argv[1]) == "--sandbox";
  const int level = given ? std::atoi(argv[2]) : 0;
  if (level < 1 || level > sandbox::kHighestLevel) _exit(2);
  return level;
}

void Greet(const Result<int>& level, std::string_view build) {
  v1::FromWorker frame;
  frame.mutable_hello()->set_build(std::string(build));
  if (level) frame.mutable_hello()->set_sandbox_level(static_cast<uint32_t>(*level));
  if (!level) frame.mutable_hello()->set_error(level.error().message);
  const auto now = std::chrono::nanoseconds(Clock::now().time_since_epoch());
  frame.mutable_hello()->set_locked_nanoseconds(now.count());
  Say(frame);
}

// Or the server is gone.
bool JobIsThere() {
  pollfd socket{.fd = kSocket, .events = POLLIN, .revents = 0};
  return poll(&socket, 1, 0) != 0;
}

Result<int> LockIn(int highest) {
  if (kLocked) return sandbox::LockIn(highest);
  OCTAVO_CHECK(sandbox::LimitResources(kUnlockedDescriptors));
  return 0;
}

Status TakeInput(const v1::Input& input, FrameReader& reader, job::Request& request) {
  Blob bytes;
  if (input.size_bytes() > 0) {
    const auto file = reader.TakeDescriptor();
    if (file == nullptr) return Fail(Code::kInternal, "an input without its descriptor");
    bytes = MapDescriptor(file->fd, input.size_bytes());
    if (bytes.empty()) return Fail(Code::kTooLarge, "an input does not fit into memory");
  }
  return AddInput(request, input, std::move(bytes));
}

// Reads frames until the job has come; ends the process if the server goes.
Result<Task> ReceiveTask(FrameReader& reader) {
  Task task;
  for (;;) {
    v1::ToWorker frame;
    OCTAVO_TRY(const bool found, reader.Next(frame));
    if (!found) {
      OCTAVO_TRY(const bool open, reader.Receive(/*wait=*/true));
      if (!open) _exit(0);
      continue;
    }
    if (frame.has_input()) OCTAVO_CHECK(TakeInput(frame.input(), reader, task.request));
    if (frame.has_cancel()) _exit(0);
    if (!frame.has_job()) continue;
    OCTAVO_CHECK(SetJob(task.request, frame.job()));
    task.output = reader.TakeDescriptor();
    if (task.output == nullptr) return Fail(Code::kInternal, "a job without an output");
    return task;
  }
}

// Runs on its own thread while the job runs.
void WatchServer(FrameReader& reader, const StopToken& stop) {
  for (;;) {
    const auto open = reader.Receive(/*wait=*/true);
    if (!open || !*open) _exit(1);
    v1::ToWorker frame;
    for (auto found = reader.Next(frame); found && *found; found = reader.Next(frame)) {
      if (frame.has_cancel()) stop.RequestStop();
    }
  }
}

// Sends the first report of a stage or pass, and otherwise one per pause.
job::Observer Reporter() {
  return [at = std::string(), sent = Clock::time_point()](const job::Progress& p) mutable {
    const std::string now_at = fmt::format("{}/{}", p.stage, p.pass);
    const auto now = Clock::now();
    const bool complete = p.total > 0 && p.done == p.total;
    if (now_at == at && !complete && now - sent < kProgressPause) return;
    at = now_at;
    sent = now;
    v1::FromWorker frame;
    frame.mutable_progress()->set_stage(std::string(p.stage));
    frame.mutable_progress()->set_pass(std::string(p.pass));
    frame.mutable_progress()->set_done(p.done);
    frame.mutable_progress()->set_total(p.total);
    frame.mutable_progress()->set_memory_bytes(p.memory_bytes);
    Say(frame);
  };
}

v1::FromWorker Answer(const Task& task, const StopToken& stop, const Job& job) {
  v1::FromWorker frame;
  const auto outcome = job(task.request, stop, Reporter());
  if (!outcome) {
    *frame.mutable_failed() = ErrorToWire(outcome.error());
    return frame;
  }
  const auto done = WriteOutcome(*outcome, task.output->fd);
  if (done) *frame.mutable_done() = *done;
  if (!done) *frame.mutable_failed() = ErrorToWire(done.error());
  return frame;
}

}  // namespace

std::string BuildText(std::string_view revision) {
  return fmt::format("{} {} {}", Version(), revision, BuildType());
}

void RunWorker(int argc, char** argv, std::string_view build, const Job& job,
               const std::optional<job::Request>& rehearsal) {
  const int highest = HighestLevel(argc, argv);
  syscall(SYS_close_range, kSocket + 1, ~0U, 0U);
  std::ignore = Sha256Of(std::string_view());  // libcrypto reads its configuration now or never
  const auto level = LockIn(highest);
  Greet(level, build);
  if (!level) _exit(1);

  if (rehearsal && !JobIsThere()) std::ignore = job(*rehearsal, StopToken(), {});
  FrameReader reader(kSocket, FrameReader::Descriptors::kAccept);
  auto task = ReceiveTask(reader);
  if (!task) {
    v1::FromWorker frame;
    *frame.mutable_failed() = ErrorToWire(task.error());
    Say(frame);
    _exit(1);
  }
  // In any thread; an exception could not leave a thread of the pool.
  std::set_new_handler([] {
    SayLastWords();
    _exit(kExitMemory);
  });
  SayLastWordsOnSignals();
  const StopToken stop;
  std::thread([&] { WatchServer(reader, stop); }).detach();
  Say(Answer(*task, stop, job));
  _exit(0);
}

}  // namespace octavo::server::worker

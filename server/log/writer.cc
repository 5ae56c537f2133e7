// SPDX-License-Identifier: Apache-2.0
#include "server/log/writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace octavo::server::log {

using Clock = std::chrono::steady_clock;

// The thread shares it, because the thread may outlive the writer.
struct Writer::State {
  struct Rate {
    Clock::time_point since = {};
    int lines = 0;
  };

  explicit State(int fd) : descriptor(fd) {}

  const int descriptor;
  mutable std::mutex mutex;
  std::condition_variable added;
  std::condition_variable written;
  std::deque<std::string> lines;
  size_t bytes = 0;
  bool writing = false;
  bool ended = false;
  uint64_t dropped = 0;
  std::map<std::string, Rate, std::less<>> rates;

  bool TooMany(std::string_view kind) {
    auto at = rates.find(kind);
    if (at == rates.end()) at = rates.emplace(std::string(kind), Rate{}).first;
    Rate& rate = at->second;
    const auto now = Clock::now();
    if (now - rate.since >= std::chrono::seconds(1)) rate = {.since = now};
    return ++rate.lines > kMostPerSecond;
  }

  // False if the reader is gone.  A line of at most PIPE_BUF bytes does not block after POLLOUT.
  bool Write(const std::string& line) const {
    for (;;) {
      pollfd ready = {.fd = descriptor, .events = POLLOUT, .revents = 0};
      if (poll(&ready, 1, -1) < 0) {
        if (errno == EINTR) continue;
        return false;
      }
      if ((ready.revents & POLLOUT) == 0) return false;
      if (write(descriptor, line.data(), line.size()) >= 0) return true;
      if (errno != EINTR && errno != EAGAIN) return false;
    }
  }

  void Run() {
    std::unique_lock lock(mutex);
    for (;;) {
      added.wait(lock, [this] { return ended || !lines.empty(); });
      if (lines.empty()) return;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      bytes -= line.size();
      writing = true;
      lock.unlock();
      const bool ok = Write(line);
      lock.lock();
      writing = false;
      if (!ok) ++dropped;
      written.notify_all();
    }
  }
};

Writer::Writer(int descriptor) : state_(std::make_shared<State>(descriptor)) {
  std::thread([state = state_] { state->Run(); }).detach();
}

Writer::~Writer() {
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->added.notify_all();
}

void Writer::Add(std::string_view kind, std::string line) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.TooMany(kind)) {
    ++state.dropped;
    return;
  }
  state.bytes += line.size();
  state.lines.push_back(std::move(line));
  while (state.bytes > kMostBytes) {
    state.bytes -= state.lines.front().size();
    state.lines.pop_front();
    ++state.dropped;
  }
  state.added.notify_one();
}

bool Writer::Flush(std::chrono::milliseconds patience) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  return state.written.wait_for(lock, patience,
                                [&] { return state.lines.empty() && !state.writing; });
}

uint64_t Writer::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace octavo::server::log

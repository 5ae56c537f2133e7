// SPDX-License-Identifier: Apache-2.0
#include "server/worker/say.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <mutex>

#include "core/base/current_node.h"
#include "server/worker/frames.h"
#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

// Below 128, so that each length in the frame is one byte.
constexpr size_t kMaxNode = 100;

std::mutex& Mutex() {
  static std::mutex mutex;
  return mutex;
}

void OnSignal(int signal) {
  SayLastWords();
  // The handler has been reset: this ends the process by the same signal.
  raise(signal);
}

}  // namespace

void Say(const v1::FromWorker& frame) {
  const std::lock_guard lock(Mutex());
  if (!WriteFrame(kSocket, frame)) _exit(1);
}

void SayLastWords() {
  const std::string* node = CurrentNode::Name();
  if (node == nullptr) return;
  // Not released: nothing follows.
  if (!Mutex().try_lock()) return;
  const size_t size = std::min(node->size(), kMaxNode);
  constexpr auto kTag = [](int field) { return static_cast<char>(field << 3 | 2); };
  // The length of the message; FromWorker.last_words; LastWords.node.
  std::array<char, 8 + kMaxNode> frame = {
      static_cast<char>(size + 4), 0, 0, 0, kTag(5), static_cast<char>(size + 2), kTag(1),
      static_cast<char>(size)};
  std::memcpy(frame.data() + 8, node->data(), size);
  [[maybe_unused]] const auto written = write(kSocket, frame.data(), 8 + size);
}

void SayLastWordsOnSignals() {
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace octavo::server::worker

// SPDX-License-Identifier: Apache-2.0
// Writes lines to a descriptor from a thread of its own, so that a reader that hangs or dies stops
// nothing.  Lines that find no room replace the oldest ones.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace octavo::server::log {

class Writer {
 public:
  static constexpr size_t kMostBytes = 4 << 20;   // that wait
  static constexpr int kMostPerSecond = 100;      // lines of one kind
  static constexpr size_t kMostLineBytes = 4096;  // with the line feed: a pipe takes it as a whole

  explicit Writer(int descriptor);
  // Gives the thread up; it ends when the descriptor's reader does or reads.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // `line` ends in a line feed and has at most kMostLineBytes.  `kind` is one of a closed set.
  void Add(std::string_view kind, std::string line);
  // Waits until every line is written; false after `patience`.
  bool Flush(std::chrono::milliseconds patience);
  // Lines that were never written: no room, too many of a kind, or no reader.
  uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace octavo::server::log

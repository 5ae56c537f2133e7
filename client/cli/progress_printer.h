// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a job: a bar on a terminal, one line per stage and pass in a pipe, or
// nothing.  Not thread-safe.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

#include "client/cli/command.h"
#include "core/job/job.h"

namespace octavo::cli {

// Bytes, rate and, after a second, the time left: "1.0/4.0 MiB, 0.5 MiB/s, 6 s left".
std::string TransferText(const job::Progress& progress, double seconds);

class ProgressPrinter {
 public:
  enum class Style { kNone, kLines, kBar };

  ProgressPrinter(std::ostream& out, Style style) : out_(out), style_(style) {}
  // Ends the line of an open bar.
  ~ProgressPrinter();

  void Show(const job::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  void ShowLine(const job::Progress& progress);
  void ShowBar(const job::Progress& progress, Clock::time_point now);

  std::ostream& out_;
  Style style_;
  std::string at_;
  std::string stage_;
  Clock::time_point stage_begun_ = {};
  Clock::time_point shown_ = {};
  bool line_open_ = false;
};

// Nothing with --quiet or --json, a bar on a terminal, else lines.
ProgressPrinter::Style StyleOf(const Invocation& invocation);

}  // namespace octavo::cli

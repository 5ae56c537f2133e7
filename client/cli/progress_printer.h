// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a job: a bar that fills the width of a terminal, one line per stage and
// pass in a pipe or on a dumb terminal, or nothing.  Not thread-safe.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

#include "client/cli/command.h"
#include "core/job/job.h"

namespace octavo::cli {

// Bytes, rate and, after a second, the time left: "1.0/4.0 MiB, 0.5 MiB/s, 6 s left".
std::string TransferText(const job::Progress& progress, double seconds);
// "0:07", "2:05", "1:00:00"
std::string ClockText(double seconds);
// The line of the bar, at most `columns` - 1 wide: what runs, the bar, the counts, the time since
// the job began and the time that the stage has left, as soon as a second of it tells.
std::string BarText(const std::string& at, const job::Progress& progress, double job_seconds,
                    double stage_seconds, size_t columns);

class ProgressPrinter {
 public:
  enum class Style { kNone, kLines, kBar };

  explicit ProgressPrinter(const Invocation& invocation);
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  // Ends the line of an open bar.
  ~ProgressPrinter();

  void Show(const job::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  void ShowLine(const job::Progress& progress);
  void ShowBar(const job::Progress& progress, Clock::time_point now);

  const Host& host_;
  std::ostream& out_;
  const Style style_;
  const bool names_passes_;  // a line for each pass is worth having with --verbose only
  const Clock::time_point begun_ = Clock::now();
  std::string at_;
  std::string stage_;
  Clock::time_point stage_begun_ = {};
  Clock::time_point shown_ = {};
  bool line_open_ = false;
};

// Nothing with --quiet or --json, a bar on a terminal that can move its cursor, else lines.
// NO_COLOR does not count: a bar is no color.
ProgressPrinter::Style StyleOf(const Invocation& invocation);

}  // namespace octavo::cli

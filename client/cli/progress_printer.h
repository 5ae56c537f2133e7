// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a job: a bar on a terminal, one line per stage and pass in a pipe, or
// nothing.  Not thread-safe.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

#include "core/job/job.h"

namespace octavo::cli {

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

}  // namespace octavo::cli

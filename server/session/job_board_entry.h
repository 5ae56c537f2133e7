// SPDX-License-Identifier: Apache-2.0
// A job that has not ended, or whose end is not in the journal yet.  For job_board*.cc only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "server/session/job_board.h"

namespace octavo::server {

struct JobBoard::Entry {
  JobRecord record = {};
  JobSpec spec = {};
  std::unique_ptr<Flights::Ticket> ticket = {};
  bool active = false;                // counts in the scheduler
  std::function<void()> cancel = {};  // of a job that a call waits for
  JobSource source = JobSource::kExecuted;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown = {};
  std::chrono::steady_clock::time_point written = {};
};

}  // namespace octavo::server

// SPDX-License-Identifier: Apache-2.0
// What `octavo optimize` and `octavo result` print about a finished job.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/warnings.h"
#include "core/job/job.h"
#include "octavo/v1/summary.pb.h"

namespace octavo::cli {

// Measures the stages of a job, which come one after another.
class StageClock {
 public:
  void Show(std::string_view stage);
  // Until now, in order; a stage that came again is in one sum.
  std::vector<std::pair<std::string, double>> Seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string stage_ = {};
  Clock::time_point begun_ = {};
  std::vector<std::pair<std::string, double>> past_ = {};
};

// Where the results of a job were written; empty: not asked for.
struct WrittenFiles {
  std::vector<std::string> model = {};  // with its external data, the model first
  std::string report = {}, html = {}, snapshots = {}, certificate = {}, depfile = {};
};

// What the report does not say.
struct FinishedJob {
  std::string model = {};
  std::string source = {};  // executed, cache or joined
  std::string job_id = {};  // of a job on a service
  double seconds = 0;
  std::vector<std::pair<std::string, double>> stages = {};
  WrittenFiles files = {};
};

// Prints the summary on stderr, or with --json on stdout, and returns the exit code: that of a
// failed gate if a gate of the job or `fail_on` failed.
Result<int> TellResult(const Invocation& invocation, const job::Outcome& outcome,
                       const FinishedJob& finished, const FailOnWarning& fail_on);

// Prints the worst output and the accuracy by the labels on stderr, unless errors alone are wanted
// or results are JSON.
void PrintFigures(const Invocation& invocation, const v1::Summary& summary);

// Adds --verbose.
void AddVerboseFlag(CLI::App& command, Invocation& invocation);

}  // namespace octavo::cli

// SPDX-License-Identifier: Apache-2.0
// Runs each job in a process of its own, which it treats as hostile: limits on memory, processor
// time and output, checked frames, results that are used only after the process has ended.  The
// next worker is started while a job runs, so that a job does not wait for one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/job/job.h"
#include "server/session/worker_probe.h"

namespace octavo::server::worker {

struct RunnerOptions {
  std::string program = {};  // path of octavo-worker
  std::string build = {};    // what its Hello must say
  int highest_level = 3;     // of isolation
  int required_level = 1;
  uint64_t job_memory = uint64_t{2} << 30;  // see MostMemory
  std::chrono::seconds job_cpu = std::chrono::hours(1);
  uint64_t output_bytes = uint64_t{1} << 30;  // and four times the model
  std::string output_folder = {};             // empty, or its disk fails: in memory
  std::string poison_file = {};               // poison_list.h
  std::chrono::milliseconds start_timeout = std::chrono::seconds(20);
  int spares = 2;  // workers that wait for a job
};

// The most that a job may use: `job_memory`, or 1.25 times what its blobs let expect if that is
// more. Its own estimate, made of the graph, must not exceed it.
uint64_t MostMemory(uint64_t job_memory, const job::Request& request);
// The request with this as its limit, unless it has a lower one.
job::Request WithMemoryLimit(job::Request request, uint64_t job_memory);

class Runner {
 public:
  // Starts one worker to see that it works and how far it is isolated.  kUsage if that is less than
  // required or the program cannot be run.
  static Result<std::unique_ptr<Runner>> Start(RunnerOptions options, WorkerProbe& probe);
  ~Runner();

  int level() const;

  // A server::JobRunner.  Beyond the job's own errors:
  //   WORKER_CRASHED  the process ended without an answer or broke the protocol; the message has
  //   the
  //                   signal, the last stage and pass, and the node if it was computing one
  //   JOB_MEMORY      it needed more memory than the job may use: MostMemory, and after import its
  //                   own estimate with a margin
  //   TOO_LARGE       its results exceed the output limit
  //   POISONED        it has crashed twice: poison_list.h
  //   JOB_TIMEOUT     it used up its processor time
  // After a stop request, the job has 1 s before its process is killed.  Thread-safe.
  Result<job::Outcome> Run(const job::Request& request, const StopToken& stop,
                           const job::Observer& observer);

 private:
  struct State;
  explicit Runner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server::worker

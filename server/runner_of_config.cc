// SPDX-License-Identifier: Apache-2.0
#include "server/runner_of_config.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/revision.h"
#include "core/job/job.h"
#include "server/log/log.h"
#include "server/sandbox/sandbox.h"
#include "server/worker/runner.h"
#include "server/worker/worker.h"

namespace octavo::server {
namespace {

// A spare for each job that may start at once, and one for the job after it.  Each holds 2 MB.
constexpr int kMostSpares = 5;

std::string WorkerProgram(const Config& config) {
  if (!config.worker.empty()) return config.worker;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "octavo-worker").string();
}

std::string PoisonFile(const Config& config) {
  const std::string& folder = config.limits.state_dir;
  return folder.empty() ? "" : (std::filesystem::path(folder) / "crashed_jobs.json").string();
}

// What the system does not permit is never left out silently.
void LogLevel(int level) {
  static constexpr const char* kMissing[] = {"namespaces, Landlock, seccomp and resource limits",
                                             "namespaces and Landlock", "namespaces"};
  if (level >= sandbox::kHighestLevel) {
    return log::Info("jobs run in workers", {{"sandbox_level", level}});
  }
  log::Warning("jobs run in workers that this system isolates in part",
               {{"sandbox_level", level}, {"missing", kMissing[level]}});
}

}  // namespace

Result<JobRunner> RunnerOfConfig(const Config& config, worker::WorkerProbe& probe) {
  if (config.isolation == "thread") {
    log::Warning("jobs run in threads: a job that crashes ends the server",
                 {{"isolation", "thread"}});
    return JobRunner([most = config.job_memory](const job::Request& request, const StopToken& stop,
                                                const job::Observer& observer) {
      return job::Run(worker::WithMemoryLimit(request, most), stop, observer);
    });
  }
  OCTAVO_TRY(auto started,
             worker::Runner::Start(
                 {.program = WorkerProgram(config),
                  .build = worker::BuildText(Revision()),
                  .required_level = static_cast<int>(config.require_sandbox),
                  .job_memory = config.job_memory,
                  .job_cpu = std::chrono::duration_cast<std::chrono::seconds>(config.job_cpu),
                  .output_folder = config.limits.state_dir,
                  .poison_file = PoisonFile(config),
                  .spares = std::min(config.limits.workers, kMostSpares - 1) + 1},
                 probe));
  LogLevel(started->level());
  return JobRunner(
      [runner = std::shared_ptr<worker::Runner>(std::move(started))](
          const job::Request& request, const StopToken& stop, const job::Observer& observer) {
        return runner->Run(request, stop, observer);
      });
}

}  // namespace octavo::server

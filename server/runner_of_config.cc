// SPDX-License-Identifier: Apache-2.0
#include "server/runner_of_config.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/revision.h"
#include "core/job/job.h"
#include "server/log/log.h"
#include "server/worker/runner.h"
#include "server/worker/worker.h"

namespace octavo::server {
namespace {

std::string WorkerProgram(const Config& config) {
  if (!config.worker.empty()) return config.worker;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "octavo-worker").string();
}

}  // namespace

Result<JobRunner> RunnerOfConfig(const Config& config, worker::WorkerProbe& probe) {
  if (config.isolation == "thread") return JobRunner(&job::Run);
  OCTAVO_TRY(auto started,
             worker::Runner::Start(
                 {.program = WorkerProgram(config),
                  .build = worker::BuildText(Revision()),
                  .required_level = static_cast<int>(config.require_sandbox),
                  .job_memory = config.job_memory,
                  .job_cpu = std::chrono::duration_cast<std::chrono::seconds>(config.job_cpu),
                  .output_folder = config.limits.state_dir},
                 probe));
  log::Info("jobs run in workers", {{"sandbox_level", started->level()}});
  return JobRunner(
      [runner = std::shared_ptr<worker::Runner>(std::move(started))](
          const job::Request& request, const StopToken& stop, const job::Observer& observer) {
        return runner->Run(request, stop, observer);
      });
}

}  // namespace octavo::server

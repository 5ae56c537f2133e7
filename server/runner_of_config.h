// SPDX-License-Identifier: Apache-2.0
// Runs the core's job as --isolation says: in a thread of this process or in a worker.
#pragma once

#include "server/config/config.h"
#include "server/session/scheduler.h"
#include "server/session/worker_probe.h"

namespace octavo::server {

// Fails if workers cannot be started or are isolated less than required.
Result<JobRunner> RunnerOfConfig(const Config& config, worker::WorkerProbe& probe);

}  // namespace octavo::server

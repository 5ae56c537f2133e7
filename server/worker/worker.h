// SPDX-License-Identifier: Apache-2.0
// The body of octavo-worker: locks itself in, receives one job on descriptor 3, computes it, writes
// its results to the output file, and ends.
//
//   server                                   worker
//     | posix_spawn                             |
//     |                                         | LockIn
//     | <------------- Hello ------------------ |
//     | ---- Input + descriptor, each blob ---> |
//     | ---- Job + output descriptor ---------> | runs the job
//     | <------------- Progress --------------- |
//     | ------------- Cancel -----------------> | (only if the job shall stop)
//     | <------------- Done or Failed --------- | ends
//     | <------------- LastWords -------------- | (only if a signal or lack of memory ends it)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/base/stop_token.h"
#include "core/job/job.h"

namespace octavo::server::worker {

using Job = std::function<Result<job::Outcome>(const job::Request&, const StopToken&,
                                               const job::Observer&)>;

inline constexpr int kSocket = 3;
// A sanitizer makes system calls and maps terabytes that a locked process may not.  In a build with
// one, workers have level 0 and no limit of memory; the server says so in its log and metric.
#ifdef OCTAVO_UNLOCKED_WORKERS
inline constexpr bool kLocked = false;
#else
inline constexpr bool kLocked = true;
#endif
// The exit code if an allocation fails.
inline constexpr int kExitMemory = 77;

// Names the build of a program: octavod accepts a worker of its own build only.
std::string BuildText(std::string_view revision);

// `build` is the worker's BuildText.  Arguments: --sandbox N, the highest level.  Runs
// `rehearsal`, whose outcome does not matter, unless the worker's own job is already there.  Ends
// the process.
[[noreturn]] void RunWorker(int argc, char** argv, std::string_view build, const Job& job,
                            const std::optional<job::Request>& rehearsal = {});

}  // namespace octavo::server::worker

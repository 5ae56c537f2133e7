// SPDX-License-Identifier: Apache-2.0
// How close a job's estimate of memory is: job_memory MODEL DATA [THREADS].  Runs the job once and
// prints the estimate and the peak of this process in MiB, and their ratio.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::bench {
namespace {

constexpr double kMiB = 1 << 20;

Status Main(const std::vector<std::string>& args) {
  if (args.size() < 2) return Fail(Code::kUsage, "job_memory MODEL DATA [THREADS]");
  job::Request request{.options = {.threads = args.size() > 2 ? std::atoi(args[2].c_str()) : 1}};
  request.model.name = args[0].substr(args[0].rfind('/') + 1);
  OCTAVO_TRY(request.model.bytes, Blob::MapFile(args[0]));
  request.samples = {{.name = args[1].substr(args[1].rfind('/') + 1)}};
  if (!args[1].starts_with("random:")) {
    OCTAVO_TRY(request.samples[0].bytes, Blob::MapFile(args[1]));
  }
  int64_t estimate = 0;
  OCTAVO_TRY([[maybe_unused]] const auto outcome,
             job::Run(request, {}, [&](const job::Progress& progress) {
               estimate = std::max(estimate, progress.memory_bytes);
             }));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) / 1024;
  const double estimated = static_cast<double>(estimate) / kMiB;
  const std::string& path = args[0];
  const size_t end = path.rfind('/');
  const size_t begin = end == std::string::npos || end == 0 ? 0 : path.rfind('/', end - 1) + 1;
  fmt::print("{:<40} {:9.1f} {:9.1f} {:7.2f}\n", path.substr(begin), estimated, peak,
             estimated / peak);
  return {};
}

}  // namespace
}  // namespace octavo::bench

int main(int argc, char** argv) {
  const auto done = octavo::bench::Main({argv + 1, argv + argc});
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}

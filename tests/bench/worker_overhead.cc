// SPDX-License-Identifier: Apache-2.0
// What a worker process costs a job: worker_overhead WORKER MODEL DATA [RUNS] [--json].  Runs the
// job in this process and in workers, alternating, and prints the medians in milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/revision.h"
#include "core/job/job.h"
#include "server/worker/runner.h"
#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

using Clock = std::chrono::steady_clock;

class NoProbe : public WorkerProbe {
 public:
  void WorkerStarted(double) override {}
  void WorkerEnded(Cause, uint64_t) override {}
  void SandboxLevel(int) override {}
};

struct Samples {
  std::vector<double> milliseconds = {};

  template <class F>
  Status Time(F&& call) {
    const auto begin = Clock::now();
    OCTAVO_CHECK(call());
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    return {};
  }
  double At(double share) {
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[static_cast<size_t>(share * static_cast<double>(milliseconds.size() - 1))];
  }
};

Status Measure(const char* program, const job::Request& request, int runs, bool json) {
  NoProbe probe;
  OCTAVO_TRY(const auto runner,
             Runner::Start({.program = program, .build = BuildText(Revision())}, probe));
  Samples thread;
  Samples process;
  for (int i = 0; i < runs + 3; ++i) {
    OCTAVO_CHECK(thread.Time([&] { return job::Run(request, {}, {}); }));
    // As a client's next job comes: the server has been idle for some time.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    OCTAVO_CHECK(process.Time([&] { return runner->Run(request, {}, {}); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (i == 2) thread = process = {};  // the first ones warm both up
  }
  const double difference = process.At(0.5) - thread.At(0.5);
  if (json) {
    fmt::print(R"({{"model": "{}", "runs": {}, "level": {}, "thread_ms": {:.2f}, )"
               R"("worker_ms": {:.2f}, "difference_ms": {:.2f}}})"
               "\n",
               request.model.name, runs, runner->level(), thread.At(0.5), process.At(0.5),
               difference);
    return {};
  }
  fmt::print("{:<10}{:>10}{:>10}{:>10}\n", "ms", "p10", "median", "p90");
  for (auto& [name, samples] : {std::pair<const char*, Samples&>("thread", thread),
                                std::pair<const char*, Samples&>("worker", process)}) {
    fmt::print("{:<10}{:>10.2f}{:>10.2f}{:>10.2f}\n", name, samples.At(0.1), samples.At(0.5),
               samples.At(0.9));
  }
  fmt::print("difference of the medians: {:.2f} ms\n", difference);
  return {};
}

Status Main(const std::vector<std::string>& args, bool json) {
  if (args.size() < 3) {
    return Fail(Code::kUsage, "worker_overhead WORKER MODEL DATA [RUNS] [--json]");
  }
  const int runs = args.size() > 3 ? std::atoi(args[3].c_str()) : 50;
  if (runs < 1) return Fail(Code::kUsage, "RUNS '{}' must be a number of at least 1", args[3]);
  job::Request request;
  request.model.name = args[1].substr(args[1].rfind('/') + 1);
  OCTAVO_TRY(request.model.bytes, Blob::MapFile(args[1]));
  job::NamedBlob samples{.name = args[2].substr(args[2].rfind('/') + 1)};
  if (!args[2].starts_with("random:")) {
    OCTAVO_TRY(samples.bytes, Blob::MapFile(args[2]));
  }
  request.samples = {samples};
  request.options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return Measure(args[0].c_str(), request, runs, json);
}

}  // namespace
}  // namespace octavo::server::worker

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  const bool json = std::erase(args, "--json") > 0;
  const auto done = octavo::server::worker::Main(args, json);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}

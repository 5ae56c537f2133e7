// SPDX-License-Identifier: Apache-2.0
// Detached jobs: detached_jobs OCTAVOD FOLDER MODEL.onnx [JOBS] [--json].  Submits 200 jobs that
// run, then JOBS equal ones, whose result is kept; prints the rate of each and the median time of a
// page of 100 jobs from the journal.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "client/jobs.h"
#include "client/remote.h"
#include "tests/bench/service.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kDistinct = 200;
constexpr int kPages = 51;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

job::Request RequestOf(const Blob& model, int number) {
  job::Request request;
  request.model = {.name = "model.onnx", .bytes = model};
  request.samples.push_back({.name = "random:1:1", .bytes = Blob(std::string())});
  // The name is part of the action digest, and so makes another job.
  request.options.output_name = fmt::format("out{}.onnx", number);
  return request;
}

struct Figures {
  double run_seconds = 0;   // of the distinct jobs, from the first call to the last end
  double kept_seconds = 0;  // of the equal ones
  double page_seconds = 0;  // median
};

// Submits `count` jobs and waits for their ends.
Result<double> Submit(const std::string& address, const Blob& model, int count, bool distinct) {
  const StopToken stop;
  client::JobsClient jobs(address, stop);
  const auto begin = Clock::now();
  std::string last;
  for (int i = 0; i < count; ++i) {
    OCTAVO_TRY(last, client::RemoteSubmit({.address = address}, RequestOf(model, distinct ? i : 0),
                                          stop, [](const job::Progress&) {}));
  }
  OCTAVO_TRY(const v1::Job job, jobs.Watch(last, [](const v1::Job&) {}));
  if (job.state() != v1::JOB_STATE_SUCCEEDED) return Forward(client::ErrorOf(job));
  return SecondsSince(begin);
}

Result<Figures> Measure(const std::string& address, const std::string& path, int count) {
  OCTAVO_TRY(const Blob model, Blob::MapFile(path));
  Figures figures;
  OCTAVO_TRY(figures.run_seconds, Submit(address, model, kDistinct, /*distinct=*/true));
  OCTAVO_TRY(figures.kept_seconds, Submit(address, model, count, /*distinct=*/false));
  client::JobsClient jobs(address, {});
  std::vector<double> seconds;
  for (int i = 0; i < kPages; ++i) {
    const auto begin = Clock::now();
    OCTAVO_TRY(const auto page, jobs.List(v1::JOB_STATE_UNSPECIFIED, 100));
    seconds.push_back(SecondsSince(begin));
    if (page.size() != 100) return Fail(Code::kInternal, "{} jobs in a page", page.size());
  }
  std::sort(seconds.begin(), seconds.end());
  figures.page_seconds = seconds[seconds.size() / 2];
  return figures;
}

int Run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  if (words.size() < 3) {
    fmt::print(stderr, "usage: detached_jobs OCTAVOD FOLDER MODEL.onnx [JOBS] [--json]\n");
    return 2;
  }
  const int count = words.size() > 3 ? std::stoi(words[3]) : 10'000;
  const Service service(words[0], words[1]);
  const auto figures = Measure(service.address(), words[2], count);
  if (!figures) {
    fmt::print(stderr, "detached_jobs: {}\n", figures.error().message);
    return 1;
  }
  fmt::print(
      fmt::runtime(json ? "{{\"jobs\": {}, \"run_jobs_per_minute\": {:.0f}, "
                          "\"kept_jobs_per_minute\": {:.0f}, \"page_seconds\": {:.6f}}}\n"
                        : "{} jobs: {:.0f} a minute run, {:.0f} a minute kept, a page of 100 "
                          "in {:.6f} s\n"),
      kDistinct + count, 60 * kDistinct / figures->run_seconds, 60 * count / figures->kept_seconds,
      figures->page_seconds);
  return 0;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) { return octavo::Run(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
// What the service adds to a job: service_times OCTAVOD FOLDER MODEL.onnx [RUNS] [--json].  Runs
// one job of random samples in this process and on octavod, alternating; asks for a kept result;
// and checks the service's health on new connections while all workers and four uploads are busy.
// Prints medians in milliseconds, and the 99th percentile of the health checks.
#include <fmt/format.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "client/remote.h"
#include "octavo/v1/blobs.grpc.pb.h"
#include "tests/bench/service.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kUploads = 4;
constexpr int kHealthChecks = 300;

job::Request RequestOf(const Blob& model, const std::string& output_name) {
  job::Request request;
  request.model = {.name = "model.onnx", .bytes = model};
  request.samples.push_back({.name = "random:1:1", .bytes = Blob(std::string())});
  request.options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // The name is part of the action digest, and so makes another job.
  request.options.output_name = output_name;
  return request;
}

class Times {
 public:
  template <class F>
  Status Time(F&& call) {
    const auto begin = Clock::now();
    OCTAVO_CHECK(call());
    milliseconds_.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    return {};
  }
  double At(double share) {
    std::sort(milliseconds_.begin(), milliseconds_.end());
    return milliseconds_[static_cast<size_t>(share *
                                             static_cast<double>(milliseconds_.size() - 1))];
  }

 private:
  std::vector<double> milliseconds_ = {};
};

// Uploads the same bytes for ever, as blobs whose declared digest is another.
Status KeepUploading(const std::string& address, int number) {
  constexpr size_t kChunk = size_t{1} << 20;
  const auto stub =
      v1::Blobs::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  for (int round = 0;; ++round) {
    grpc::ClientContext context;
    v1::WriteBlobResponse response;
    const auto stream = stub->WriteBlob(&context, &response);
    v1::WriteBlobRequest request;
    request.mutable_digest()->set_sha256(fmt::format("{:032x}{:032x}", number, round));
    request.mutable_digest()->set_size_bytes(uint64_t{1} << 29);
    bool ok = stream->Write(request);
    request.mutable_chunk()->set_data(std::string(kChunk, 'x'));
    uint64_t offset = 0;
    for (; ok && offset < request.digest().size_bytes(); offset += kChunk) {
      request.mutable_chunk()->set_offset(offset);
      ok = stream->Write(request);
    }
    const grpc::Status status = stream->Finish();
    if (offset < request.digest().size_bytes()) {
      return Fail(Code::kInternal, "an upload: {}", status.error_message());
    }
  }
}

Result<job::Outcome> Remote(const std::string& address, const job::Request& request,
                            client::ResultSource* source) {
  return client::RemoteRun(
      {.address = address}, request, {}, [](const job::Progress&) {}, source);
}

Status KeepOptimizing(const std::string& address, int number, const std::string& path) {
  OCTAVO_TRY(const Blob model, Blob::MapFile(path));
  for (int round = 0;; ++round) {
    OCTAVO_CHECK(
        Remote(address, RequestOf(model, fmt::format("busy{}_{}.onnx", number, round)), nullptr));
  }
}

// Processes of this program with a load each: in one process, gRPC's client would starve the calls
// that are measured.
class Busy {
 public:
  ~Busy() {
    for (const pid_t pid : children_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  void Add(std::vector<std::string> words) {
    words.insert(words.begin(), "service_times");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) == 0) {
      children_.push_back(pid);
    }
  }
  // How many are at work.
  size_t Count() const {
    return static_cast<size_t>(std::count_if(children_.begin(), children_.end(), [](pid_t pid) {
      siginfo_t info = {};
      waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
      return info.si_pid == 0;
    }));
  }

 private:
  std::vector<pid_t> children_ = {};
};

struct Figures {
  Times local, remote, kept, health, busy_health;
  uint64_t result_bytes = 0;
};

Status MeasureJobs(const std::string& address, const Blob& model, int runs, Figures& figures) {
  for (int i = -3; i < runs; ++i) {  // the first ones warm both up
    const job::Request request = RequestOf(model, fmt::format("out{}.onnx", i + 3));
    client::ResultSource source = {};
    OCTAVO_CHECK(figures.local.Time([&] { return job::Run(request, {}, {}); }));
    OCTAVO_CHECK(figures.remote.Time([&] { return Remote(address, request, &source); }));
    if (source != client::ResultSource::kExecuted)
      return Fail(Code::kInternal, "a job did not run");
    if (i == -1) figures = {};
  }
  const job::Request request = RequestOf(model, "out0.onnx");
  for (int i = 0; i < runs; ++i) {
    client::ResultSource source = {};
    OCTAVO_CHECK(figures.kept.Time([&]() -> Status {
      OCTAVO_TRY(const auto outcome, Remote(address, request, &source));
      figures.result_bytes = outcome.model.bytes.size();
      return {};
    }));
    if (source != client::ResultSource::kCache)
      return Fail(Code::kInternal, "a result is not kept");
  }
  return {};
}

Status CheckHealth(const std::string& address, Times& times) {
  for (int i = 0; i < kHealthChecks; ++i) {
    OCTAVO_CHECK(times.Time([&] { return client::CheckHealth(address, client::DeadlineIn(20)); }));
  }
  return {};
}

Status MeasureHealth(const std::string& address, const std::string& model, Figures& figures) {
  OCTAVO_CHECK(CheckHealth(address, figures.health));
  Busy busy;
  for (int i = 0; i < kUploads; ++i) busy.Add({"--upload", address, std::to_string(i)});
  const auto jobs = std::thread::hardware_concurrency() + 1;
  for (unsigned i = 0; i < jobs; ++i) busy.Add({"--optimize", address, std::to_string(i), model});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  OCTAVO_CHECK(CheckHealth(address, figures.busy_health));
  if (busy.Count() == kUploads + jobs) return {};
  return Fail(Code::kInternal, "{} of {} loads were at work", busy.Count(), kUploads + jobs);
}

Status Measure(const std::vector<std::string>& words, bool json) {
  OCTAVO_TRY(const Blob model, Blob::MapFile(words[2]));
  const int runs = words.size() > 3 ? std::stoi(words[3]) : 50;
  const Service service(words[0], words[1]);
  Figures figures;
  OCTAVO_CHECK(MeasureJobs(service.address(), model, runs, figures));
  OCTAVO_CHECK(MeasureHealth(service.address(), words[2], figures));
  fmt::print(fmt::runtime(json ? "{{\"runs\": {}, \"local_ms\": {:.2f}, \"remote_ms\": {:.2f}, "
                                 "\"kept_ms\": {:.2f}, \"result_bytes\": {}, "
                                 "\"health_p99_ms\": {:.2f}, \"busy_health_p99_ms\": {:.2f}}}\n"
                               : "{} runs: here {:.2f} ms, remote {:.2f}, kept {:.2f} for {} "
                                 "bytes; health p99 {:.2f}, busy {:.2f}\n"),
             runs, figures.local.At(0.5), figures.remote.At(0.5), figures.kept.At(0.5),
             figures.result_bytes, figures.health.At(0.99), figures.busy_health.At(0.99));
  return {};
}

int Run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  if (words.size() >= 3 && (words[0] == "--upload" || words[0] == "--optimize")) {
    const int number = std::stoi(words[2]);
    const Status status = words[0] == "--upload" ? KeepUploading(words[1], number)
                                                 : KeepOptimizing(words[1], number, words.at(3));
    fmt::print(stderr, "service_times {}: {}\n", words[0], status.error().message);
    return 1;
  }
  if (words.size() < 3) {
    fmt::print(stderr, "usage: service_times OCTAVOD FOLDER MODEL.onnx [RUNS] [--json]\n");
    return 2;
  }
  const Status done = Measure(words, json);
  if (!done) fmt::print(stderr, "service_times: {}\n", done.error().message);
  return done ? 0 : 1;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) { return octavo::Run(argc, argv); }

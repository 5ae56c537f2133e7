// SPDX-License-Identifier: Apache-2.0
// A job that needs no core.  Its result is a function of the request's bytes; a test may hold it at
// its start.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "core/base/sha256.h"
#include "server/session/job_probe.h"
#include "server/session/scheduler.h"

namespace octavo::server {

class FakeRunner {
 public:
  JobRunner AsRunner() {
    return [this](const job::Request& request, const StopToken& stop,
                  const job::Observer& observer) { return Run(request, stop, observer); };
  }

  // Jobs that start after this call wait for Open or for their stop token.
  void Hold() {
    std::lock_guard lock(mutex_);
    held_ = true;
  }
  void Open() {
    std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  bool WaitForStarts(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return started_ >= count; });
  }
  int started() {
    std::lock_guard lock(mutex_);
    return started_;
  }
  // Runs `call` at the start of each job that is not held, on the job's thread.
  void OnStart(std::function<void()> call) { on_start_ = std::move(call); }
  void set_progress_reports(int count) { progress_reports_ = count; }

  // The job's result for a model: the model reversed, and a report that names the target.
  static job::Outcome OutcomeOf(const job::Request& request) {
    const std::string_view model = request.model.bytes.text();
    job::Outcome outcome;
    outcome.model = {.name = "folded.onnx",
                     .bytes = Blob(std::string(model.rbegin(), model.rend()))};
    for (const job::NamedBlob& blob : request.external_data) outcome.external.push_back(blob);
    if (request.options.snapshots) {
      outcome.snapshots.push_back({.name = "00-import.graph", .bytes = Blob(std::string("graph"))});
    }
    std::string inputs;
    for (const job::NamedBlob& blob : request.samples) inputs += blob.name + ' ';
    outcome.report_json = fmt::format(R"({{"target": "{}", "file_names": "{}", "digest": "{}"}})",
                                      request.options.target, inputs, Sha256Of(model));
    outcome.gate_failed = request.options.require_sqnr > 100;
    if (outcome.gate_failed) outcome.message = "sqnr 40.0 dB is below 101 dB";
    outcome.facts.passes = {{.pass = "quantize", .seconds = 0.25}};
    outcome.facts.rewrites = {
        {.rule = "absorb-rescales/merge", .effect = "fewer-roundings", .count = 3}};
    outcome.facts.output_sqnr_db = {41.5};
    return outcome;
  }

 private:
  Result<job::Outcome> Run(const job::Request& request, const StopToken& stop,
                           const job::Observer& observer) {
    observer({.stage = "import"});
    {
      std::unique_lock lock(mutex_);
      ++started_;
      changed_.notify_all();
      while (held_) {
        if (auto ok = stop.Check(); !ok) return Forward(ok.error());
        changed_.wait_for(lock, std::chrono::milliseconds(5));
      }
    }
    if (on_start_) on_start_();
    for (int i = 0; i < progress_reports_; ++i) {
      observer({.stage = "passes", .pass = "quantize", .done = i, .total = progress_reports_});
    }
    OCTAVO_CHECK(stop.Check());
    if (request.model.bytes.text().starts_with("broken")) {
      return Fail(Code::kInvalidArgument, "Conv 'c1': the weight has no elements").Node("c1");
    }
    if (request.model.bytes.text().starts_with("busy") && started() == 1) {
      return Fail(Code::kResourceExhausted, "no memory is free").Reason("OVERLOADED");
    }
    if (request.model.bytes.text().starts_with("crash")) {
      return Fail(Code::kAborted, "the job's worker was ended by signal 11 (SIGSEGV)");
    }
    return OutcomeOf(request);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  int started_ = 0;
  int progress_reports_ = 3;
  std::function<void()> on_start_;
};

// Counts the events that it receives.
class CountingProbe : public JobProbe {
 public:
  void Rejected(RejectReason reason) override { Count(rejected[static_cast<int>(reason)]); }
  void WaitedInQueue(double) override { Count(started); }
  void CancelTook(double) override { Count(cancels); }
  void StageTook(std::string_view, double) override { Count(stages); }
  void Ended(JobOutcome outcome, JobSource source, double) override {
    if (source == JobSource::kCache) Count(from_cache);
    Count(ended[static_cast<int>(outcome)]);
  }
  void Recovered(size_t jobs) override { recovered += jobs; }
  void CacheAsked(CacheAnswer answer) override { Count(cache[static_cast<int>(answer)]); }
  void Computed(const job::Outcome&) override { Count(computed); }
  void Uploaded(uint64_t bytes) override { uploaded += bytes; }
  void Downloaded(uint64_t bytes) override { downloaded += bytes; }

  int rejections(RejectReason reason) const { return rejected[static_cast<int>(reason)]; }
  int outcomes(JobOutcome outcome) const { return ended[static_cast<int>(outcome)]; }
  // False if that many events do not arrive within 10 s.
  bool WaitForRejections(RejectReason reason, int count) {
    return WaitFor([=, this] { return rejections(reason) >= count; });
  }
  bool WaitForCancels(int count) {
    return WaitFor([=, this] { return cancels >= count; });
  }
  bool WaitForOutcomes(JobOutcome outcome, int count) {
    return WaitFor([=, this] { return outcomes(outcome) >= count; });
  }

  std::atomic<int> rejected[std::size(kRejectReasons)] = {};
  std::atomic<int> ended[std::size(kJobOutcomes)] = {};
  std::atomic<int> cache[4] = {};
  std::atomic<int> started{0}, stages{0}, computed{0}, from_cache{0}, cancels{0};
  std::atomic<uint64_t> uploaded{0}, downloaded{0}, recovered{0};

 private:
  void Count(std::atomic<int>& counter) {
    const std::lock_guard lock(mutex_);
    ++counter;
    changed_.notify_all();
  }
  template <class Reached>
  bool WaitFor(const Reached& reached) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), reached);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace octavo::server

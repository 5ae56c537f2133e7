// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/probe.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

#include "core/job/stage_names.h"
#include "server/log/log.h"
#include "server/metrics/process_collector.h"

namespace octavo::server {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using Buckets = Histogram::BucketBoundaries;

// Seconds of operations that a person waits for: 5 ms to 10 minutes.
const Buckets kLong = {0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 150, 300, 600};
// Seconds of one step of a job.
const Buckets kShort = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};
const Buckets kMebibytes = {16 << 20,  32 << 20, 64 << 20,        128 << 20,       256 << 20,
                            512 << 20, 1 << 30,  2.0 * (1 << 30), 4.0 * (1 << 30), 8.0 * (1 << 30)};
const Buckets kDecibels = {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80};

constexpr std::string_view kQueueStage = "queue";
// Names as in the dashboards of the gRPC ecosystem.
const char* CodeName(grpc::StatusCode code) {
  static constexpr const char* kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "Unknown";
}

Labels RpcLabels(const RpcName& rpc) {
  return {{"grpc_type", rpc.method == kOptimizeRpc.method ? "bidi_stream" : "unary"},
          {"grpc_service", std::string(rpc.service)},
          {"grpc_method", std::string(rpc.method)}};
}

Labels RpcLabels(const RpcName& rpc, grpc::StatusCode code) {
  Labels labels = RpcLabels(rpc);
  labels["grpc_code"] = CodeName(code);
  return labels;
}

Labels JobLabels(JobOutcome outcome, JobSource source) {
  return {{"outcome", std::string(NameOf(outcome))}, {"source", std::string(NameOf(source))}};
}
Labels RewriteLabels(const std::string& rule, const std::string& effect) {
  return {{"rule", rule}, {"effect", effect}};
}
Labels KernelLabels(const std::string& kernel, const std::string& isa) {
  return {{"kernel", kernel}, {"isa", isa}};
}

}  // namespace

struct Probe::Metrics {
  prometheus::Registry registry;
  ProcessCollector process;

  Family<Counter>& Counters(const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Register(registry);
  }
  Counter& OneCounter(const char* name, const char* help) { return Counters(name, help).Add({}); }
  Family<Histogram>& Histograms(const char* name, const char* help) {
    return BuildHistogram().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& Gauges(const char* name, const char* help) {
    return BuildGauge().Name(name).Help(help).Register(registry);
  }
  Gauge& OneGauge(const char* name, const char* help) { return Gauges(name, help).Add({}); }

  Family<Counter>& rpc_started = Counters("grpc_server_started_total", "Calls started.");
  Family<Counter>& rpc_handled = Counters("grpc_server_handled_total", "Calls ended, by status.");
  Family<Histogram>& rpc_seconds =
      Histograms("grpc_server_handling_seconds", "Time from a call's start to its end.");

  Family<Counter>& jobs = Counters("octavo_jobs_total",
                                   "Admitted jobs that ended, by outcome and by how they "
                                   "came.");
  Family<Histogram>& job_seconds =
      Histograms("octavo_job_duration_seconds", "From a job's arrival to its last byte.");
  Counter& recovered = OneCounter("octavo_jobs_recovered_total",
                                  "Detached jobs that were queued again when the service started.");
  Histogram& queue_wait =
      Histograms("octavo_job_queue_wait_seconds", "From a complete upload to the job's start.")
          .Add({}, kLong);
  Histogram& cancel_seconds =
      Histograms("octavo_job_cancel_seconds", "From a running job's cancellation to its end.")
          .Add({}, kShort);
  Family<Histogram>& stage_seconds =
      Histograms("octavo_job_stage_duration_seconds", "Time that a job spent in a stage.");
  Family<Counter>& rejected =
      Counters("octavo_admission_rejected_total", "Jobs that were not let in.");
  Counter& uploaded = OneCounter("octavo_upload_bytes_total", "Bytes of chunks received.");
  Counter& downloaded = OneCounter("octavo_download_bytes_total", "Bytes of chunks sent.");

  Family<Histogram>& pass_seconds =
      Histograms("octavo_pass_duration_seconds", "Time of one run of a pass.");
  Family<Counter>& rewrites =
      Counters("octavo_rewrites_total", "Applications of a rule, by its numeric effect.");
  Counter& rescales_removed =
      OneCounter("octavo_rescales_removed_total", "Rescale nodes that jobs removed.");
  Histogram& output_sqnr =
      Histograms("octavo_output_sqnr_db", "Signal to quantization noise of graph outputs.")
          .Add({}, kDecibels);
  Histogram& value_sqnr =
      Histograms("octavo_value_sqnr_db", "Signal to quantization noise of all compared values.")
          .Add({}, kDecibels);
  Counter& saturated = OneCounter("octavo_saturated_values_total",
                                  "Elements of compared values at an end of their range.");
  Counter& gate_failures =
      OneCounter("octavo_gate_failures_total", "Jobs whose require_* gate was not met.");
  Family<Counter>& kernel_operations = Counters("octavo_kernel_operations_total",
                                                "Arithmetic operations, a multiply-add being two.");
  Family<Counter>& kernel_seconds =
      Counters("octavo_kernel_busy_seconds_total", "Time spent in a kernel.");

  Family<Counter>& worker_exits =
      Counters("octavo_worker_exits_total", "Worker processes that ended, by cause.");
  Histogram& worker_start =
      Histograms("octavo_worker_spawn_seconds", "From a worker's start until it is locked in.")
          .Add({}, kShort);
  Histogram& worker_memory =
      Histograms("octavo_worker_peak_rss_bytes", "Most memory that a worker held at once.")
          .Add({}, kMebibytes);
  Gauge& sandbox_level =
      OneGauge("octavo_sandbox_level", "Isolation of workers, 1 to 3; 0: jobs are threads.");

  Gauge& running = OneGauge("octavo_jobs_running", "Jobs that run.");
  Gauge& waiting = OneGauge("octavo_queue_depth", "Jobs that wait for a slot.");
  Gauge& uploads = OneGauge("octavo_uploads_open", "Uploads of jobs and of single blobs.");
  Gauge& oldest =
      OneGauge("octavo_queue_oldest_age_seconds", "How long the oldest job has waited.");
  Gauge& slots = OneGauge("octavo_worker_slots", "Jobs that may run at once.");
  Gauge& busy = OneGauge("octavo_worker_busy", "Slots in use.");
  Gauge& reserved =
      OneGauge("octavo_memory_reserved_bytes", "Bytes set aside for admitted jobs, by estimate.");
  Gauge& budget = OneGauge("octavo_memory_budget_bytes", "Most that may be set aside.");
  Gauge& lag = OneGauge("octavo_event_loop_lag_seconds",
                        "How late the event loop ran, worst of the last ten seconds.");
  Gauge& connections = OneGauge("octavo_connections", "Connections of gRPC clients.");
  Family<Counter>& connections_rejected =
      Counters("octavo_connections_rejected_total", "Connections that were closed at once.");
  Counter& log_dropped =
      OneCounter("octavo_log_dropped_total", "Lines of the log that were not written.");
  Family<Counter>& cache_requests =
      Counters("octavo_result_cache_requests_total", "Jobs whose result was looked for.");
  Gauge& store_bytes = OneGauge("octavo_store_bytes", "Bytes of the store's blobs.");
  Gauge& store_limit =
      OneGauge("octavo_store_limit_bytes", "Most that the store's blobs may take.");
  Counter& store_evicted = OneCounter("octavo_store_evicted_bytes_total",
                                      "Bytes of blobs that were removed for others.");
  Counter& store_corruptions = OneCounter("octavo_store_corruptions_total",
                                          "Blobs that were removed because they were damaged.");
  Counter& blob_dedup = OneCounter("octavo_blob_dedup_bytes_total",
                                   "Bytes of blobs that were written although the store had them.");
  Counter& upload_resumed = OneCounter("octavo_upload_resumed_total",
                                       "Uploads that continued what an earlier call had sent.");
  Family<Gauge>& build_info = Gauges("octavo_build_info", "1, labelled with the version.");

  std::mutex mutex;
  std::function<Occupancy()> occupancy;
  std::function<double()> loop_lag_seconds;
  std::function<StoreStats()> store;

  explicit Metrics(const Catalog& catalog);
  void ReadGauges();
  void ReadStore(const StoreStats& stats);
};

Probe::Metrics::Metrics(const Catalog& catalog) {
  build_info.Add({{"version", catalog.version}}).Set(1);
  for (const RpcName& rpc : kRpcs) {
    rpc_started.Add(RpcLabels(rpc));
    rpc_seconds.Add(RpcLabels(rpc), kLong);
    for (int code = 0; code <= static_cast<int>(grpc::StatusCode::UNAUTHENTICATED); ++code) {
      rpc_handled.Add(RpcLabels(rpc, static_cast<grpc::StatusCode>(code)));
    }
  }
  for (const auto outcome : kJobOutcomes) {
    const std::string name(NameOf(outcome));
    for (const auto source : kJobSources) {
      jobs.Add(JobLabels(outcome, source));
    }
    job_seconds.Add({{"outcome", name}}, kLong);
  }
  for (const auto reason : kRejectReasons) {
    rejected.Add({{"reason", std::string(NameOf(reason))}});
  }
  for (const auto cause : worker::kCauses) {
    worker_exits.Add({{"cause", std::string(NameOf(cause))}});
  }
  for (const auto& [reason, name] : kConnectionRejects) {
    connections_rejected.Add({{"reason", std::string(name)}});
  }
  for (const auto answer : kCacheAnswers) {
    cache_requests.Add({{"result", std::string(NameOf(answer))}});
  }
  stage_seconds.Add({{"stage", std::string(kQueueStage)}}, kLong);
  for (const auto stage : job::kStageNames) {
    stage_seconds.Add({{"stage", std::string(stage)}}, kLong);
  }
  for (const auto& pass : catalog.passes) pass_seconds.Add({{"pass", pass}}, kShort);
  for (const auto& [rule, effect] : catalog.rewrites) rewrites.Add(RewriteLabels(rule, effect));
  for (const auto& [kernel, isa] : catalog.kernels) {
    kernel_operations.Add(KernelLabels(kernel, isa));
    kernel_seconds.Add(KernelLabels(kernel, isa));
  }
}

void Probe::Metrics::ReadGauges() {
  std::lock_guard lock(mutex);
  if (store) ReadStore(store());
  if (!occupancy) return;
  const Occupancy now = occupancy();
  running.Set(now.running);
  waiting.Set(now.waiting);
  uploads.Set(now.uploads);
  oldest.Set(now.oldest_wait_seconds);
  slots.Set(now.slots);
  busy.Set(now.running);
  reserved.Set(static_cast<double>(now.bytes_reserved));
  budget.Set(static_cast<double>(now.bytes_budget));
  lag.Set(loop_lag_seconds());
  log_dropped.Increment(static_cast<double>(log::Dropped()) - log_dropped.Value());
}

void Probe::Metrics::ReadStore(const StoreStats& stats) {
  store_bytes.Set(static_cast<double>(stats.bytes));
  store_limit.Set(static_cast<double>(stats.limit_bytes));
  store_evicted.Increment(static_cast<double>(stats.evicted_bytes) - store_evicted.Value());
  store_corruptions.Increment(static_cast<double>(stats.corruptions) - store_corruptions.Value());
  blob_dedup.Increment(static_cast<double>(stats.dedup_bytes) - blob_dedup.Value());
  upload_resumed.Increment(static_cast<double>(stats.resumed) - upload_resumed.Value());
}

Probe::Probe(const Catalog& catalog) : metrics_(std::make_unique<Metrics>(catalog)) {}
Probe::~Probe() = default;

void Probe::Watch(std::function<Occupancy()> occupancy, std::function<double()> loop_lag_seconds) {
  std::lock_guard lock(metrics_->mutex);
  metrics_->occupancy = std::move(occupancy);
  metrics_->loop_lag_seconds = std::move(loop_lag_seconds);
}

void Probe::WatchStore(std::function<StoreStats()> store) {
  std::lock_guard lock(metrics_->mutex);
  metrics_->store = std::move(store);
}

void Probe::Unwatch() {
  Watch(nullptr, nullptr);
  WatchStore(nullptr);
}

std::string Probe::Text() const {
  metrics_->ReadGauges();
  auto families = metrics_->registry.Collect();
  for (auto& family : metrics_->process.Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

void Probe::RpcStarted(const RpcName& rpc) {
  metrics_->rpc_started.Add(RpcLabels(rpc)).Increment();
}

void Probe::RpcHandled(const RpcName& rpc, grpc::StatusCode code, double seconds) {
  metrics_->rpc_handled.Add(RpcLabels(rpc, code)).Increment();
  metrics_->rpc_seconds.Add(RpcLabels(rpc), kLong).Observe(seconds);
}

void Probe::ConnectionsOpen(size_t count) { metrics_->connections.Set(static_cast<double>(count)); }

void Probe::ConnectionRejected(ConnectionReject reason) {
  for (const auto& [each, name] : kConnectionRejects) {
    if (each != reason) continue;
    metrics_->connections_rejected.Add({{"reason", std::string(name)}}).Increment();
  }
}

void Probe::Rejected(RejectReason reason) {
  metrics_->rejected.Add({{"reason", std::string(NameOf(reason))}}).Increment();
}

void Probe::WaitedInQueue(double seconds) { metrics_->queue_wait.Observe(seconds); }

void Probe::CancelTook(double seconds) { metrics_->cancel_seconds.Observe(seconds); }

void Probe::StageTook(std::string_view stage, double seconds) {
  metrics_->stage_seconds.Add({{"stage", std::string(stage)}}, kLong).Observe(seconds);
}

void Probe::Ended(JobOutcome outcome, JobSource source, double seconds) {
  metrics_->jobs.Add(JobLabels(outcome, source)).Increment();
  metrics_->job_seconds.Add({{"outcome", std::string(NameOf(outcome))}}, kLong).Observe(seconds);
}

void Probe::Recovered(size_t jobs) { metrics_->recovered.Increment(static_cast<double>(jobs)); }

void Probe::CacheAsked(CacheAnswer answer) {
  metrics_->cache_requests.Add({{"result", std::string(NameOf(answer))}}).Increment();
}

void Probe::Computed(const job::Outcome& outcome) {
  const job::Facts& facts = outcome.facts;
  for (const auto& rewrite : facts.rewrites) {
    metrics_->rewrites.Add(RewriteLabels(rewrite.rule, rewrite.effect))
        .Increment(static_cast<double>(rewrite.count));
  }
  for (const auto& pass : facts.passes) {
    metrics_->pass_seconds.Add({{"pass", pass.pass}}, kShort).Observe(pass.seconds);
  }
  for (const auto& use : facts.kernels) {
    const Labels labels = KernelLabels(use.kernel, use.isa);
    metrics_->kernel_operations.Add(labels).Increment(use.operations);
    metrics_->kernel_seconds.Add(labels).Increment(use.seconds);
  }
  for (const double sqnr : facts.output_sqnr_db) metrics_->output_sqnr.Observe(sqnr);
  for (const double sqnr : facts.value_sqnr_db) metrics_->value_sqnr.Observe(sqnr);
  metrics_->rescales_removed.Increment(static_cast<double>(facts.rescales_removed));
  metrics_->saturated.Increment(static_cast<double>(facts.saturated_values));
  if (outcome.gate_failed) metrics_->gate_failures.Increment();
}

void Probe::Uploaded(uint64_t bytes) { metrics_->uploaded.Increment(static_cast<double>(bytes)); }
void Probe::Downloaded(uint64_t bytes) {
  metrics_->downloaded.Increment(static_cast<double>(bytes));
}

void Probe::WorkerStarted(double seconds) { metrics_->worker_start.Observe(seconds); }

void Probe::WorkerEnded(worker::Cause cause, uint64_t peak_rss_bytes) {
  metrics_->worker_exits.Add({{"cause", std::string(NameOf(cause))}}).Increment();
  metrics_->worker_memory.Observe(static_cast<double>(peak_rss_bytes));
}

void Probe::SandboxLevel(int level) { metrics_->sandbox_level.Set(level); }

int Probe::sandbox_level() const { return static_cast<int>(metrics_->sandbox_level.Value()); }

}  // namespace octavo::server

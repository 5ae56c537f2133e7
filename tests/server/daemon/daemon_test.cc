// SPDX-License-Identifier: Apache-2.0
// All of octavod except its main function: metrics, liveness and readiness, shutdown.
#include "server/daemon/daemon.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "client/remote.h"
#include "server/log/log.h"
#include "tests/server/daemon/http_get.h"
#include "tests/server/logic/fake_runner.h"
#include "tests/support/temporary_folder.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const Catalog kCatalog{
    .version = "0.1.0-test",
    .passes = {"quantize", "absorb-rescales"},
    .rewrites = {{"absorb-rescales/merge", "fewer-roundings"}, {"place-rescales/sink", "exact"}},
    .kernels = {{"conv2d", "avx2"}}};

struct Running {
  explicit Running(Config given = {}) {
    log::SetLevel("error");
    given.listen = given.metrics = "127.0.0.1:0";
    given.shutdown_wait = milliseconds(20);
    auto started = Daemon::Start(given, kCatalog, [&](const Config&, worker::WorkerProbe&) {
      return Result<JobRunner>(runner.AsRunner());
    });
    EXPECT_TRUE(started) << started.error().message;
    daemon = std::move(*started);
  }

  Result<job::Outcome> Run(const std::string& model, milliseconds retry_for = {}) {
    job::Request request;
    request.model = {.name = "m.onnx", .bytes = Blob(model)};
    return client::RemoteRun({.address = daemon->address(), .retry = {.retry_for = retry_for}},
                             request, {}, [](const job::Progress&) {});
  }
  // The value of a series as text; empty if there is none.
  std::string Metric(const std::string& series) {
    const std::string text = HttpGet(daemon->metrics_address(), "/metrics");
    const size_t at = text.find('\n' + series + ' ');
    if (at == std::string::npos) return {};
    const size_t begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  FakeRunner runner;
  std::unique_ptr<Daemon> daemon;
};

constexpr const char* kSeries[] = {
    R"(grpc_server_started_total{grpc_method="Optimize",grpc_service="octavo.v1.Optimizer",grpc_type="bidi_stream"})",
    R"(octavo_jobs_total{outcome="succeeded",source="executed"})",
    R"(octavo_jobs_total{outcome="failed",source="executed"})",
    R"(octavo_jobs_total{outcome="cancelled",source="executed"})",
    R"(octavo_jobs_total{outcome="invalid",source="executed"})",
    R"(octavo_jobs_total{outcome="crashed",source="joined"})",
    R"(octavo_jobs_total{outcome="deadline",source="cache"})",
    R"(octavo_job_duration_seconds_count{outcome="invalid"})",
    R"(octavo_job_duration_seconds_count{outcome="deadline"})",
    "octavo_job_cancel_seconds_count",
    R"(octavo_result_cache_requests_total{result="miss"})",
    R"(octavo_result_cache_requests_total{result="incomplete"})",
    R"(octavo_connections_rejected_total{reason="total"})",
    R"(octavo_connections_rejected_total{reason="address"})",
    R"(octavo_connections_rejected_total{reason="descriptors"})",
    R"(octavo_connections_rejected_total{reason="resets"})",
    "octavo_connections",
    "octavo_uploads_open",
    "octavo_log_dropped_total",
    R"(octavo_jobs_total{outcome="succeeded",source="cache"})",
    R"(octavo_jobs_total{outcome="succeeded",source="joined"})",
    R"(octavo_result_cache_requests_total{result="hit"})",
    R"(octavo_result_cache_requests_total{result="corrupt"})",
    "octavo_store_bytes",
    "octavo_store_limit_bytes",
    "octavo_store_evicted_bytes_total",
    "octavo_store_corruptions_total",
    "octavo_blob_dedup_bytes_total",
    "octavo_upload_resumed_total",
    R"(octavo_job_duration_seconds_count{outcome="succeeded"})",
    "octavo_job_queue_wait_seconds_count",
    R"(octavo_job_stage_duration_seconds_count{stage="integer-run"})",
    "octavo_jobs_running",
    "octavo_queue_depth",
    "octavo_queue_oldest_age_seconds",
    R"(octavo_admission_rejected_total{reason="queue_full"})",
    R"(octavo_admission_rejected_total{reason="memory"})",
    "octavo_worker_busy",
    R"(octavo_worker_exits_total{cause="crashed"})",
    R"(octavo_worker_exits_total{cause="memory"})",
    "octavo_worker_peak_rss_bytes_count",
    "octavo_worker_spawn_seconds_count",
    "octavo_sandbox_level",
    "octavo_memory_reserved_bytes",
    "octavo_upload_bytes_total",
    "octavo_download_bytes_total",
    R"(octavo_pass_duration_seconds_count{pass="absorb-rescales"})",
    R"(octavo_rewrites_total{effect="exact",rule="place-rescales/sink"})",
    "octavo_rescales_removed_total",
    "octavo_output_sqnr_db_count",
    "octavo_value_sqnr_db_count",
    "octavo_saturated_values_total",
    "octavo_gate_failures_total",
    R"(octavo_kernel_operations_total{isa="avx2",kernel="conv2d"})",
    R"(octavo_kernel_busy_seconds_total{isa="avx2",kernel="conv2d"})",
};

TEST(Daemon, EverySeriesExistsAtZeroFromTheStart) {
  Running service;
  for (const char* series : kSeries) EXPECT_EQ(service.Metric(series), "0") << series;
  for (const char* series :
       {"octavo_worker_slots", "octavo_memory_budget_bytes", "process_resident_memory_bytes",
        "process_open_fds", "process_start_time_seconds", "process_max_fds",
        R"(octavo_build_info{version="0.1.0-test"})"}) {
    const std::string value = service.Metric(series);
    ASSERT_FALSE(value.empty()) << series;
    EXPECT_GT(std::stod(value), 0) << series;
  }
  EXPECT_FALSE(service.Metric("octavo_event_loop_lag_seconds").empty());
}

TEST(Daemon, AJobIsCountedInEveryPlace) {
  Running service;
  ASSERT_TRUE(service.Run("model"));
  EXPECT_FALSE(service.Run("broken"));
  // The call must end on this side, too, before the server counts its last byte.
  const std::string handled =
      R"(grpc_server_handled_total{grpc_code="InvalidArgument",grpc_method="Optimize",grpc_service="octavo.v1.Optimizer",grpc_type="bidi_stream"})";
  for (int tries = 0; tries < 500 && service.Metric(handled) != "1"; ++tries) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(service.Metric(handled), "1");
  EXPECT_EQ(service.Metric(R"(octavo_jobs_total{outcome="succeeded",source="executed"})"), "1");
  EXPECT_EQ(service.Metric(R"(octavo_jobs_total{outcome="invalid",source="executed"})"), "1");
  EXPECT_EQ(service.Metric(R"(octavo_jobs_total{outcome="failed",source="executed"})"), "0");
  EXPECT_EQ(service.Metric("octavo_upload_bytes_total"), "11");
  EXPECT_EQ(service.Metric(
                R"(octavo_rewrites_total{effect="fewer-roundings",rule="absorb-rescales/merge"})"),
            "3");
  EXPECT_EQ(service.Metric(R"(octavo_pass_duration_seconds_count{pass="quantize"})"), "1");
  EXPECT_EQ(service.Metric(R"(octavo_output_sqnr_db_bucket{le="45"})"), "1");
  EXPECT_EQ(service.Metric("octavo_job_queue_wait_seconds_count"), "2");
  EXPECT_EQ(service.Metric(R"(octavo_job_stage_duration_seconds_count{stage="import"})"), "2");
  EXPECT_EQ(service.Metric("octavo_memory_reserved_bytes"), "0");
}

TEST(Daemon, HttpAnswersItsThreePathsAndNothingElse) {
  Running service;
  const std::string& address = service.daemon->metrics_address();
  EXPECT_TRUE(HttpGet(address, "/livez").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(HttpGet(address, "/readyz?verbose").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(HttpGet(address, "/etc/passwd").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(
      SendHttp(address, "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
          .starts_with("HTTP/1.1 405"));
  EXPECT_EQ(SendHttp(address, "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n"), "");
}

TEST(Daemon, DrainLetsARunningJobFinishAndRefusesNewOnes) {
  Running service({.drain_timeout = std::chrono::seconds(10)});
  service.runner.Hold();
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = service.Run("model"); });
  ASSERT_TRUE(service.runner.WaitForStarts(1));
  std::thread drain([&] { service.daemon->Drain(); });
  while (!HttpGet(service.daemon->metrics_address(), "/readyz").starts_with("HTTP/1.1 503")) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  const auto refused = service.Run("late");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_TRUE(HttpGet(service.daemon->metrics_address(), "/livez").starts_with("HTTP/1.1 200"));
  service.runner.Open();
  caller.join();
  drain.join();
  EXPECT_TRUE(outcome) << outcome.error().message;
}

TEST(Daemon, TheDrainTimeoutEndsAJobThatDoesNot) {
  Running service({.drain_timeout = milliseconds(100)});
  service.runner.Hold();
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = service.Run("model"); });
  ASSERT_TRUE(service.runner.WaitForStarts(1));
  const auto begin = steady_clock::now();
  service.daemon->Drain();
  caller.join();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "DRAIN_TIMEOUT") << outcome.error().message;
}

TEST(Daemon, ThePortFileHoldsBothAddresses) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "port").string();
  Running service({.port_file = path});
  std::ifstream file(path);
  std::string first;
  std::string second;
  std::getline(file, first);
  std::getline(file, second);
  EXPECT_EQ(first, service.daemon->address());
  EXPECT_EQ(second, service.daemon->metrics_address());
  EXPECT_FALSE(first.ends_with(":0"));
}

}  // namespace
}  // namespace octavo::server

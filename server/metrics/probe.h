// SPDX-License-Identifier: Apache-2.0
// Defines every metric of the service; no other file does.  Label values come from closed sets, and
// every series exists with value 0 from the start.  Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/service/catalog.h"
#include "server/service/rpc_probe.h"
#include "server/session/job_probe.h"
#include "server/session/worker_probe.h"

namespace octavo::server {

class Probe : public JobProbe, public RpcProbe, public worker::WorkerProbe {
 public:
  explicit Probe(const Catalog& catalog);
  ~Probe() override;

  // Sets the sources of the gauges.  Call Watch once, before the first Text, and Unwatch before the
  // objects that the callbacks read are destroyed.
  void Watch(std::function<Occupancy()> occupancy, std::function<double()> loop_lag_seconds);
  // The same for the store's metrics, which stay 0 without it.
  void WatchStore(std::function<StoreStats()> store);
  void Unwatch();
  // All metrics in the Prometheus text format.
  std::string Text() const;

  void RpcStarted(const RpcName& rpc) override;
  void RpcHandled(const RpcName& rpc, grpc::StatusCode code, double seconds) override;
  void ConnectionsOpen(size_t count) override;
  void ConnectionRejected(ConnectionReject reason) override;
  void Rejected(RejectReason reason) override;
  void WaitedInQueue(double seconds) override;
  void CancelTook(double seconds) override;
  void StageTook(std::string_view stage, double seconds) override;
  void Ended(JobOutcome outcome, JobSource source, double seconds) override;
  void Recovered(size_t jobs) override;
  void CacheAsked(CacheAnswer answer) override;
  void Computed(const job::Outcome& outcome) override;
  void Uploaded(uint64_t bytes) override;
  void Downloaded(uint64_t bytes) override;
  void WorkerStarted(double seconds) override;
  void WorkerEnded(worker::Cause cause, uint64_t peak_rss_bytes) override;
  void SandboxLevel(int level) override;
  int sandbox_level() const;  // 0 until it is set

 private:
  struct Metrics;
  std::unique_ptr<Metrics> metrics_;
};

}  // namespace octavo::server

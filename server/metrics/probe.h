// SPDX-License-Identifier: Apache-2.0
// Defines every metric of the service; no other file names one.  Labels come from closed sets, all
// of whose series exist at 0 from the start.  Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/service/catalog.h"
#include "server/service/rpc_probe.h"
#include "server/session/job_probe.h"

namespace octavo::server {

class Probe : public JobProbe, public RpcProbe {
 public:
  explicit Probe(const Catalog& catalog);
  ~Probe() override;

  // Sets the sources of the gauges: once, before the first Text; Unwatch before what they read is
  // destroyed.
  void Watch(std::function<Occupancy()> occupancy, std::function<double()> loop_lag_seconds);
  void Unwatch();
  // All metrics in Prometheus' text form.
  std::string Text() const;

  void RpcStarted(const RpcName& rpc) override;
  void RpcHandled(const RpcName& rpc, grpc::StatusCode code, double seconds) override;
  void Rejected(RejectReason reason) override;
  void WaitedInQueue(double seconds) override;
  void StageTook(std::string_view stage, double seconds) override;
  void Ended(JobOutcome outcome, double seconds) override;
  void Computed(const job::Outcome& outcome) override;
  void Uploaded(uint64_t bytes) override;
  void Downloaded(uint64_t bytes) override;

 private:
  struct Metrics;
  std::unique_ptr<Metrics> metrics_;
};

}  // namespace octavo::server

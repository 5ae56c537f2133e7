// SPDX-License-Identifier: Apache-2.0
#include "server/service/capabilities_service.h"

#include <chrono>

namespace octavo::server {

CapabilitiesService::CapabilitiesService(const Catalog& catalog, const Limits& limits,
                                         const Isolation& isolation, RpcProbe& probe)
    : probe_(probe) {
  answer_.set_octavo_version(catalog.version);
  answer_.add_api_versions("v1");
  answer_.mutable_targets()->Assign(catalog.targets.begin(), catalog.targets.end());
  answer_.mutable_ops()->Assign(catalog.ops.begin(), catalog.ops.end());
  answer_.set_isolation(isolation.processes ? v1::ISOLATION_PROCESS : v1::ISOLATION_THREAD);
  answer_.set_sandbox_level(static_cast<uint32_t>(isolation.sandbox_level));
  answer_.mutable_numerics_modes()->Assign(catalog.numerics_modes.begin(),
                                           catalog.numerics_modes.end());
  answer_.mutable_passes()->Assign(catalog.passes.begin(), catalog.passes.end());
  v1::Limits& wire = *answer_.mutable_limits();
  wire.set_message_bytes(limits.message_bytes);
  wire.set_model_bytes(limits.model_bytes);
  wire.set_samples_bytes(limits.samples_bytes);
  wire.set_nodes(limits.nodes);
  wire.set_value_bytes(limits.value_bytes);
  wire.set_jobs_queued(limits.jobs_queued);
  wire.set_bytes_reserved(limits.bytes_reserved);
  wire.set_upload_idle_timeout_seconds(
      std::chrono::duration<double>(limits.upload_idle_timeout).count());
  wire.set_job_timeout_seconds(std::chrono::duration<double>(limits.job_timeout).count());
  wire.set_workers(static_cast<uint32_t>(limits.workers));
  wire.set_blobs(limits.blobs);
  wire.set_job_threads(static_cast<uint32_t>(limits.job_threads));
  wire.set_upload_min_rate(limits.upload_min_rate);
}

grpc::ServerUnaryReactor* CapabilitiesService::GetCapabilities(
    grpc::CallbackServerContext* context, const v1::GetCapabilitiesRequest*,
    v1::GetCapabilitiesResponse* response) {
  const auto begin = std::chrono::steady_clock::now();
  probe_.RpcStarted(kCapabilitiesRpc);
  *response = answer_;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  probe_.RpcHandled(
      kCapabilitiesRpc, grpc::StatusCode::OK,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return reactor;
}

}  // namespace octavo::server

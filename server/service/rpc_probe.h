// SPDX-License-Identifier: Apache-2.0
// The observer of RPCs, for metrics.  Thread-safe.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace octavo::server {

// Names as in the .proto, "octavo.v1.Optimizer" and "Optimize".
struct RpcName {
  std::string_view service = {};
  std::string_view method = {};
};

inline constexpr RpcName kOptimizeRpc{"octavo.v1.Optimizer", "Optimize"};
inline constexpr RpcName kCapabilitiesRpc{"octavo.v1.Capabilities", "GetCapabilities"};
inline constexpr RpcName kFindMissingBlobsRpc{"octavo.v1.Blobs", "FindMissingBlobs"};
inline constexpr RpcName kQueryBlobWriteRpc{"octavo.v1.Blobs", "QueryBlobWrite"};
inline constexpr RpcName kWriteBlobRpc{"octavo.v1.Blobs", "WriteBlob"};
inline constexpr RpcName kReadBlobRpc{"octavo.v1.Blobs", "ReadBlob"};
inline constexpr RpcName kSubmitJobRpc{"octavo.v1.Jobs", "SubmitJob"};
inline constexpr RpcName kGetJobRpc{"octavo.v1.Jobs", "GetJob"};
inline constexpr RpcName kListJobsRpc{"octavo.v1.Jobs", "ListJobs"};
inline constexpr RpcName kWatchJobRpc{"octavo.v1.Jobs", "WatchJob"};
inline constexpr RpcName kCancelJobRpc{"octavo.v1.Jobs", "CancelJob"};
inline constexpr RpcName kDeleteJobRpc{"octavo.v1.Jobs", "DeleteJob"};
inline constexpr RpcName kRpcs[] = {kOptimizeRpc,       kCapabilitiesRpc, kFindMissingBlobsRpc,
                                    kQueryBlobWriteRpc, kWriteBlobRpc,    kReadBlobRpc,
                                    kSubmitJobRpc,      kGetJobRpc,       kListJobsRpc,
                                    kWatchJobRpc,       kCancelJobRpc,    kDeleteJobRpc};

// Why a connection is closed: as soon as it comes, or, for kResets, later too.
enum class ConnectionReject { kInAll, kPerAddress, kDescriptors, kResets };
inline constexpr std::pair<ConnectionReject, std::string_view> kConnectionRejects[] = {
    {ConnectionReject::kInAll, "total"},
    {ConnectionReject::kPerAddress, "address"},
    {ConnectionReject::kDescriptors, "descriptors"},
    {ConnectionReject::kResets, "resets"}};

class RpcProbe {
 public:
  virtual ~RpcProbe() = default;
  virtual void RpcStarted(const RpcName& rpc) = 0;
  virtual void RpcHandled(const RpcName& rpc, grpc::StatusCode code, double seconds) = 0;
  virtual void ConnectionsOpen(size_t count) = 0;
  virtual void ConnectionRejected(ConnectionReject reason) = 0;
};

}  // namespace octavo::server

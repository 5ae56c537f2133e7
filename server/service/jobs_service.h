// SPDX-License-Identifier: Apache-2.0
// octavo.v1.Jobs: each call is a step of the job board, so no reactor blocks.
#pragma once

#include <memory>

#include "octavo/v1/jobs.grpc.pb.h"
#include "server/service/rpc_probe.h"
#include "server/session/job_board.h"

namespace octavo::server {

namespace jobs_service {
// SubmitJob takes bytes, so that they can be checked before protobuf converts them.
using Base = v1::Jobs::WithRawCallbackMethod_SubmitJob<
    v1::Jobs::WithCallbackMethod_GetJob<v1::Jobs::WithCallbackMethod_ListJobs<
        v1::Jobs::WithCallbackMethod_WatchJob<v1::Jobs::WithCallbackMethod_CancelJob<
            v1::Jobs::WithCallbackMethod_DeleteJob<v1::Jobs::Service>>>>>>;
}  // namespace jobs_service

class JobsService : public jobs_service::Base {
 public:
  // Without a board every call is UNIMPLEMENTED.  `kept` is how long an ended job is kept.
  JobsService(std::shared_ptr<JobBoard> board, std::chrono::milliseconds kept, RpcProbe& probe)
      : board_(std::move(board)), kept_(kept), probe_(probe) {}

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request, v1::Job* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerWriteReactor<v1::JobEvent>* WatchJob(grpc::CallbackServerContext* context,
                                                   const v1::WatchJobRequest* request) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::Job* response) override;
  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      google::protobuf::Empty* response) override;

 private:
  using Step = std::function<CallStatus(JobBoard&)>;
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const RpcName& rpc,
                                   Step step);

  const std::shared_ptr<JobBoard> board_;
  const std::chrono::milliseconds kept_;
  RpcProbe& probe_;
};

}  // namespace octavo::server

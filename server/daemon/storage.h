// SPDX-License-Identifier: Apache-2.0
// What a service keeps in its state folder, and whether the folder can be written.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "server/pool/event_loop.h"
#include "server/pool/work_pool.h"
#include "server/session/limits.h"
#include "server/store/job_store.h"
#include "server/store/result_cache.h"

namespace octavo::server {

class Storage {
 public:
  // Opens or creates what is in `limits.state_dir`; kUsage if it cannot be used.  Calls `changed`
  // from a thread of `disk` when the folder can no longer be written, and when it can again.  The
  // storage must outlive the items of `disk` and not outlive `loop`.
  static Result<std::unique_ptr<Storage>> Open(const Limits& limits, WorkPool& disk,
                                               EventLoop& loop, std::function<void(bool)> changed);
  BlobStore& blobs() { return *blobs_; }
  ResultCache& results() { return results_; }
  JobStore& journal() { return *journal_; }
  // Whether the last trial, which is at most some seconds old, could write to the folder.
  bool writable() const { return writable_; }

 private:
  Storage(std::unique_ptr<BlobStore> blobs, std::unique_ptr<Database> database, WorkPool& disk,
          EventLoop& loop);
  void ArmTrial();
  void Try();

  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<Database> database_;
  ResultIndex index_;
  ResultCache results_;
  std::unique_ptr<JobStore> journal_;
  WorkPool& disk_;
  EventLoop& loop_;
  std::function<void(bool)> changed_;
  std::atomic<bool> writable_ = true;
};

}  // namespace octavo::server

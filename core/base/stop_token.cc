// SPDX-License-Identifier: Apache-2.0
#include "core/base/stop_token.h"

namespace octavo {

Status StopToken::Check() const {
  if (stopped_->load(std::memory_order_relaxed)) return Fail(Code::kCancelled, "cancelled");
  if (deadline_ && Clock::now() >= *deadline_) {
    return Fail(Code::kDeadlineExceeded, "the deadline passed before the job was done");
  }
  return {};
}

}  // namespace octavo

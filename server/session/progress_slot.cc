// SPDX-License-Identifier: Apache-2.0
#include "server/session/progress_slot.h"

#include <utility>

namespace octavo::server {

void ProgressSlot::Put(const job::Progress& progress) {
  {
    std::lock_guard lock(mutex_);
    if (progress.stage != stage_) {
      const auto now = Clock::now();
      EndStage(now);
      stage_ = progress.stage;
      stage_begun_ = now;
    }
    const bool was_empty = !latest_.has_value();
    latest_ = ProgressEvent{.stage = std::string(progress.stage),
                            .pass = std::string(progress.pass),
                            .done = progress.done,
                            .total = progress.total};
    if (!was_empty) return;
  }
  wake_();
}

void ProgressSlot::Close() {
  std::lock_guard lock(mutex_);
  EndStage(Clock::now());
  stage_.clear();
}

void ProgressSlot::EndStage(Clock::time_point now) {
  if (stage_.empty()) return;
  probe_.StageTook(stage_, std::chrono::duration<double>(now - stage_begun_).count());
}

std::optional<ProgressEvent> ProgressSlot::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(latest_, std::nullopt);
}

}  // namespace octavo::server

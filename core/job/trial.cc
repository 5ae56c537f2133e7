// SPDX-License-Identifier: Apache-2.0
#include "core/job/trial.h"

namespace octavo::job {

Trial::Trial(const JobContext& job, Observer observer)
    : settings(job.settings), request_(job.request), observer_(std::move(observer)) {
  settings.checkpoint = {};
  settings.options.snapshots = false;
}

Result<Quantized> Trial::Quantize(const Profiled& profiled,
                                  const std::vector<std::string>& wide) const {
  return QuantizeOnce(job(), profiled, wide);
}

}  // namespace octavo::job

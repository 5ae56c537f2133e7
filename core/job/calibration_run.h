// SPDX-License-Identifier: Apache-2.0
// Runs a float graph on the samples that calibrate.
#pragma once

#include <functional>
#include <memory>

#include "core/job/stages.h"

namespace octavo::job {

struct CalibrationRun {
  profile::Profile profile = {};  // without the digest of the model
  // Of the graph's layers; null unless --rounding asks for them.
  std::shared_ptr<profile::MomentSource> moments = {};
};

using RunProgress = std::function<void(int64_t done, int64_t total)>;
// `kept` receives copies of its values, and `progress` is called after each batch; both may be
// null. Channels have ranges where the job may scale them (CollectsChannels).
Result<CalibrationRun> RunCalibration(const JobContext& job, const ir::Graph& graph,
                                      const data::Samples& samples, float_exec::KeptValues* kept,
                                      const RunProgress& progress);

// Runs the pass `equalize`.  Where it divides values and samples calibrate, the float graph runs on
// them again: the profile and the moments become those of the values as they are now.  That run
// reports no progress, which would be of a stage that has ended.
Status EqualizeChannels(const JobContext& job, const data::Samples& samples, Rewriting& rewriting,
                        std::optional<profile::Profile>& profile,
                        std::shared_ptr<profile::MomentSource>& moments);

}  // namespace octavo::job

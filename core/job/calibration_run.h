// SPDX-License-Identifier: Apache-2.0
// Runs a float graph on the samples that calibrate.
#pragma once

#include <functional>
#include <memory>

#include "core/job/stages.h"
#include "core/profile/collect.h"

namespace octavo::job {

struct CalibrationRun {
  profile::Profile profile = {};  // without the digest of the model
  // Of the graph's layers; null unless --rounding asks for them.
  std::shared_ptr<profile::MomentSource> moments = {};
  // The same of the even batches alone; null unless they are asked for.
  std::shared_ptr<profile::MomentSource> even_moments = {};
};

using RunProgress = std::function<void(int64_t done, int64_t total)>;
struct CalibrationRequest {
  float_exec::KeptValues* kept = nullptr;  // receives copies of its values; may be null
  RunProgress progress = {};               // called after each batch; may be null
  bool channels = false;                   // whether channels have ranges of their own
  profile::Halves* halves = nullptr;       // receives its figures; may be null
  bool even_moments = false;               // with `halves`
};
Result<CalibrationRun> RunCalibration(const JobContext& job, const ir::Graph& graph,
                                      const data::Samples& samples,
                                      const CalibrationRequest& request);

// Runs the pass `equalize`.  Where it divides values and samples calibrate, the profile and the
// moments become those of the values as they are now: ranges and moments of channels are divided,
// and where that does not suffice (other values, histograms), the float graph runs on the samples
// again.  That run reports no progress, which would be of a stage that has ended.
Status EqualizeChannels(const JobContext& job, const data::Samples& samples, Rewriting& rewriting,
                        std::optional<profile::Profile>& profile,
                        std::shared_ptr<profile::MomentSource>& moments);

}  // namespace octavo::job

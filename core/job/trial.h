// SPDX-License-Identifier: Apache-2.0
// Whole quantizations that a job makes to measure them, before the one that becomes its result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job/stages.h"

namespace octavo::job {

// The calibration methods that jobs try by themselves.
inline constexpr std::string_view kTriedCalibrations[] = {"minmax", "mse", "percentile:99.99"};

// The context of a job without its traces: snapshots, progress and certificate are of the result
// alone.  The job must outlive it.
class Trial {
 public:
  // `observer` gets the progress of the trial's stages; it may be empty.
  explicit Trial(const JobContext& job, Observer observer = {});

  JobContext job() const { return {request_, settings, observer_}; }
  // Quantizes a copy, with 16-bit integers for the values of these names as well.
  Result<Quantized> Quantize(const Profiled& profiled,
                             const std::vector<std::string>& wide = {}) const;

  passes::Settings settings;  // the job's, for the caller to change

 private:
  const Request& request_;
  const Observer observer_;
};

}  // namespace octavo::job

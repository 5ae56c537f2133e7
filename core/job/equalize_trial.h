// SPDX-License-Identifier: Apache-2.0
// --equalize auto: whether the job equalizes channels.
#pragma once

#include <optional>

#include "core/job/stages.h"

namespace octavo::job {

// What a trial needs of the calibration run.
struct EqualizeTrialPlan {
  bool tries = false;     // to know of the halves of the batches
  bool descends = false;  // and the moments of the even ones
};
// By descent where the job rounds so and it takes little time: at most kMostTrialWork multiply-adds
// for all gradients.
EqualizeTrialPlan PlanEqualizeTrial(const JobContext& job, const Prepared& prepared);
inline constexpr int64_t kMostTrialWork = int64_t{2} << 30;

// Replaces auto in the job's own options, between Calibrate and Quantize: by off without a trial,
// else by what the trial chose, which is returned.
//
// The trial quantizes the model without and with equalized channels, by the ranges and moments of
// the even calibration batches, and scores both on up to kMostScored of the odd ones (search.h).
// Equalization must gain 0.1 dB.  Weights are rounded as the job rounds them, but to nearest where
// descent would take long, with biases that moments of all batches correct: that takes a tenth of
// the time, and may misjudge a model where descent repairs most of the weights' error.  There is no
// trial where --equalize is not auto, nothing is quantized, there are fewer than two batches, no
// channel would have a factor, or no output has a figure.
Result<std::optional<v1::EqualizeTrial>> SettleEqualize(const JobContext& job, Profiled& profiled,
                                                        Options& options);

}  // namespace octavo::job

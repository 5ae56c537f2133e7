// SPDX-License-Identifier: Apache-2.0
// --search: which calibration method and which rounding the job takes, and whether it equalizes
// channels.
#pragma once

#include <vector>

#include "core/job/stages.h"

namespace octavo::job {

// Batches that score a candidate, so that the time does not grow with their number.
inline constexpr int64_t kMostScored = 8;
inline constexpr double kLeastGainDb = 0.1;  // of a candidate; less is chance

// The even calibration batches go on to calibrate, and up to kMostScored of the odd ones score.
void PartForTrial(SampleSets& samples);

struct Found {
  profile::Calibration calibration = {};
  Rounding rounding = Rounding::kNearest;
  Equalize equalize = Equalize::kOff;
  // What was tried, in order; empty: nothing, and the three above are the job's own.
  std::vector<v1::SearchCandidate> candidates = {};
};

// Quantizes the model with each candidate, on the even calibration samples, and scores it on up to
// kMostScored of the odd ones (OutputScores).  Candidates are, in order: minmax with nearest, then
// minmax, mse and percentile:99.99 with descent, then these three equalized; of these, what the
// options leave open.  A later one is chosen if it is better than the best so far by 0.1 dB.
// Two samples are enough, so that one calibrates and one scores.  Without them, or where nothing is
// quantized or has a figure, a warning says so.
Result<Found> Search(const JobContext& job, Prepared& prepared);

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Which samples of a job calibrate, and which evaluate: give the report's figures.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/data/samples.h"
#include "core/job/load.h"
#include "core/options/options.h"

namespace octavo::job {

enum class SamplesRole {
  kEvaluation,   // others than those that calibrate: --evaluate; or --data where a profile
                 // calibrates
  kHeldOut,      // a part of --data that does not calibrate
  kCalibration,  // those that calibrate
  kSynthetic,    // drawn from the profile
};
// As numerics.samples_role has it: "held-out".
std::string_view Name(SamplesRole role);

struct SampleSets {
  data::Samples calibration = {};  // of the first size; empty: no sample calibrates
  data::Samples evaluation = {};   // empty: none is given
  SamplesRole role = SamplesRole::kEvaluation;
  // Null for samples that are drawn.  One may survey the samples of both sets.
  std::shared_ptr<SampleSurvey> calibration_survey = {}, evaluation_survey = {};

  // Whether a set is of the user's: data or random numbers.
  bool given() const { return IsGiven(calibration) || IsGiven(evaluation); }
  bool random() const { return calibration.random || evaluation.random; }
  // The inputs of all samples that were read, each with the counts of both sets.
  std::vector<SurveyedInput> Inputs() const;

 private:
  static bool IsGiven(const data::Samples& samples) { return samples.random || samples.origin; }
};

// Takes the samples of `loaded`.  Where `calibrates` is set, those of --data calibrate, and those
// of --evaluate, else those that --holdout holds back, evaluate.  Else all evaluate, and kUsage if
// both are given.  kUsage too if --holdout N and --evaluate are given.
Result<SampleSets> PartSamples(const Options& options, bool calibrates, Loaded& loaded);

}  // namespace octavo::job

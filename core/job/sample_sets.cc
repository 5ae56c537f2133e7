// SPDX-License-Identifier: Apache-2.0
#include "core/job/sample_sets.h"

#include <algorithm>

#include "core/data/hold_out.h"

namespace octavo::job {

std::string_view Name(SamplesRole role) {
  switch (role) {
    case SamplesRole::kEvaluation:
      return "evaluation";
    case SamplesRole::kHeldOut:
      return "held-out";
    case SamplesRole::kCalibration:
      return "calibration";
    case SamplesRole::kSynthetic:
      return "synthetic";
  }
  return "";
}

std::vector<SurveyedInput> SampleSets::Inputs() const {
  std::vector<SurveyedInput> inputs;
  if (evaluation_survey) inputs = evaluation_survey->Inputs();
  if (!calibration_survey || calibration_survey == evaluation_survey) return inputs;
  for (SurveyedInput& more : calibration_survey->Inputs()) {
    const auto at = std::ranges::find(inputs, more.name, &SurveyedInput::name);
    if (at == inputs.end()) {
      inputs.push_back(std::move(more));
      continue;
    }
    at->elements += more.elements;
    at->nans += more.nans;
    at->infinities += more.infinities;
    at->varies |= more.varies;
  }
  return inputs;
}

Result<SampleSets> PartSamples(const Options& options, bool calibrates, Loaded& loaded) {
  const bool evaluates = !loaded.evaluation.batches.empty();
  if (evaluates && options.holdout.kind == profile::Holdout::Kind::kEvery) {
    return Fail(Code::kUsage,
                "--holdout {} holds back samples of --data, but --evaluate gives other ones",
                profile::Name(options.holdout))
        .Field("holdout");
  }
  SampleSets sets;
  if (evaluates) {
    sets.evaluation = std::move(loaded.evaluation);
    sets.evaluation_survey = std::move(loaded.evaluation_survey);
  }
  if (!calibrates) {
    if (evaluates && !loaded.samples.batches.empty()) {
      return Fail(Code::kUsage,
                  "--data and --evaluate would both evaluate, because no sample calibrates this "
                  "job; give one of them")
          .Field("evaluate");
    }
    if (!evaluates) sets.evaluation = std::move(loaded.samples);
    if (!evaluates) sets.evaluation_survey = std::move(loaded.survey);
    return sets;
  }
  sets.calibration_survey = std::move(loaded.survey);
  if (evaluates) {
    sets.calibration = std::move(loaded.samples);
    return sets;
  }
  sets.evaluation_survey = sets.calibration_survey;
  const int64_t every = profile::HoldoutEvery(options.holdout, loaded.samples.batches.size());
  if (every == 0) {
    sets.role = SamplesRole::kCalibration;
    sets.calibration = loaded.samples;
    sets.evaluation = std::move(loaded.samples);
    return sets;
  }
  sets.role = SamplesRole::kHeldOut;
  data::Parted parted = data::HoldOut(loaded.samples, every);
  sets.calibration = std::move(parted.calibration);
  sets.evaluation = std::move(parted.evaluation);
  return sets;
}

}  // namespace octavo::job

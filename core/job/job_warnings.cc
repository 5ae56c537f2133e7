// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_warnings.h"

#include <algorithm>

#include "core/job/sample_survey.h"

namespace octavo::job {
namespace {

constexpr int64_t kEnoughSamples = 16;
constexpr double kSaturatedShare = 0.01;
constexpr double kDriftShare = 0.001;
// Of the range's width: half a step of 8 bits, which rounding takes back.
constexpr double kDriftExcess = 0.5 / 255;
// A value's own error counts if, passed on as it is, it is 1 % of the worst output's: its SQNR is
// at most so much higher.
constexpr double kErrorShareDb = 20;

std::string Others(size_t count, std::string_view one) {
  return count > 1 ? fmt::format("'{}' and {} more", one, count - 1) : fmt::format("'{}'", one);
}

// `samples` names those of the survey, which may be null.
void WarnOfConstants(const SampleSurvey* survey, std::string_view samples, Warnings& warnings) {
  if (survey == nullptr) return;
  for (const SurveyedInput& input : survey->Inputs()) {
    if (input.varies || input.elements < 2) continue;
    AddWarning(warnings, "constant_input",
               fmt::format("all {} elements of input '{}' are equal in {}", input.elements,
                           input.name, samples),
               input.name);
  }
}

void WarnOfUnusedImage(Warnings& warnings) {
  AddWarning(warnings, "image_unused",
             "--image is given, but no sample is a PNG or JPEG image: arrays are used as they are");
}

void WarnOfUnusedArrays(const data::Samples& samples, Warnings& warnings) {
  for (const std::string& text : samples.unused) AddWarning(warnings, "unknown_name", text);
}

void WarnOfRandom(Warnings& warnings) {
  AddWarning(warnings, "random_samples",
             "the samples are random numbers: ranges and figures say nothing about real inputs");
}

void WarnOfFew(int64_t count, Warnings& warnings) {
  if (count >= kEnoughSamples) return;
  AddWarning(warnings, "few_samples",
             fmt::format("{}; ranges and figures need {} or more",
                         count == 1 ? std::string("there is 1 sample")
                                    : fmt::format("there are {} samples", count),
                         kEnoughSamples));
}

void WarnOfFewCalibrate(const Quantized& quantized, Warnings& warnings) {
  const int64_t count = quantized.calibration_samples();
  if (count >= kEnoughSamples) return;
  const SampleSets& sets = quantized.samples;
  const std::string held = sets.role == SamplesRole::kHeldOut
                               ? fmt::format(" ({} are held back)", sets.evaluation.count)
                               : std::string();
  AddWarning(warnings, "few_samples",
             fmt::format("{}{}; ranges need {} or more",
                         count == 1 ? std::string("1 sample calibrates")
                                    : fmt::format("{} samples calibrate", count),
                         held, kEnoughSamples));
}

void WarnOfNonFinite(const std::vector<SurveyedInput>& inputs, Warnings& warnings) {
  for (const SurveyedInput& input : inputs) {
    if (input.nans + input.infinities == 0) continue;
    AddWarning(warnings, "non_finite_samples",
               fmt::format("input '{}' has {} NaN and {} infinite elements in the samples",
                           input.name, input.nans, input.infinities),
               input.name);
  }
}

// Of a job's samples, those that calibrate and those that evaluate.
void WarnOfSets(const Quantized& quantized, Warnings& warnings) {
  const SampleSets& sets = quantized.samples;
  if (!sets.given()) return;
  const bool calibrates = !sets.calibration.batches.empty();
  if (sets.evaluation.image_unused && (!calibrates || sets.calibration.image_unused)) {
    WarnOfUnusedImage(warnings);
  }
  if (calibrates) WarnOfUnusedArrays(sets.calibration, warnings);
  if (sets.role != SamplesRole::kCalibration && sets.role != SamplesRole::kHeldOut) {
    WarnOfUnusedArrays(sets.evaluation, warnings);
  }
  if (sets.random()) WarnOfRandom(warnings);
  if (calibrates && sets.role != SamplesRole::kCalibration) {
    WarnOfFewCalibrate(quantized, warnings);
  } else {
    WarnOfFew(sets.evaluation.count + quantized.other_samples, warnings);
  }
  const bool apart = calibrates && sets.calibration_survey != sets.evaluation_survey;
  if (apart) WarnOfConstants(sets.calibration_survey.get(), "the samples of --data", warnings);
  WarnOfConstants(sets.evaluation_survey.get(), apart ? "the samples of --evaluate" : "the samples",
                  warnings);
  WarnOfNonFinite(sets.Inputs(), warnings);
}

std::optional<double> WorstSqnrOf(const std::vector<v1::ValueNumerics>& outputs) {
  std::optional<double> worst;
  for (const v1::ValueNumerics& output : outputs) {
    if (output.has_sqnr_db()) worst = std::min(worst.value_or(output.sqnr_db()), output.sqnr_db());
  }
  return worst;
}

// The relative error that the value's own node and quantization add: its local SQNR, or that of a
// quantized input, which no node computes.  Empty where nothing is added.
std::optional<double> OwnSqnrOf(const ir::Graph& graph, const v1::ValueNumerics& value) {
  if (!value.has_scale() && value.scales().empty()) return std::nullopt;
  if (value.has_local_sqnr_db()) return value.local_sqnr_db();
  const auto named = [&](ir::ValueId id) { return graph.name(id) == value.name(); };
  if (std::ranges::none_of(graph.inputs(), named) || !value.has_sqnr_db()) return std::nullopt;
  return value.sqnr_db();
}

void WarnOfProfile(const Quantized& quantized, Warnings& warnings) {
  const std::vector<std::string>& unmatched = quantized.profile_figures.unmatched_entries;
  if (!unmatched.empty()) {
    AddWarning(
        warnings, "profile_unmatched",
        fmt::format("the profile's entry {} names no value of the model{}",
                    Others(unmatched.size(), unmatched.front()), quantized.profile_figures.hint));
  }
  const std::vector<std::string>& missing = quantized.rewriting.findings.missing_values;
  if (!missing.empty()) {
    AddWarning(warnings, "profile_missing",
               fmt::format("the profile has no entry for {}; such values stay float",
                           Others(missing.size(), missing.front())));
  }
  const int64_t samples = quantized.profile ? quantized.profile->samples : 0;
  if (samples > 0 && samples < kEnoughSamples) {
    AddWarning(warnings, "few_samples",
               fmt::format("the profile is of {} samples; ranges need {} or more", samples,
                           kEnoughSamples));
  }
}

}  // namespace

void AddWarning(Warnings& warnings, ir::WarningCode code, std::string_view message,
                std::string_view node) {
  // Assigned, not moved: GCC 12 takes the move of a string of known length for an overflow.
  ir::Warning& warning = warnings.emplace_back(ir::Warning{.code = code});
  warning.message = message;
  warning.node = node;
}

void WarnOfNonFinite(const SampleSurvey* survey, Warnings& warnings) {
  if (survey != nullptr) WarnOfNonFinite(survey->Inputs(), warnings);
}

void WarnOfNans(const std::vector<report::NanInput>& inputs, Warnings& warnings) {
  for (const report::NanInput& input : inputs) {
    AddWarning(warnings, "nan_input", Describe(input), input.node);
  }
}

void WarnOfSamples(const data::Samples& samples, const SampleSurvey* survey, Warnings& warnings) {
  const bool given = samples.random || samples.origin;
  if (!given) return;  // none, or those of a model without inputs
  if (samples.image_unused) WarnOfUnusedImage(warnings);
  WarnOfUnusedArrays(samples, warnings);
  if (samples.random) WarnOfRandom(warnings);
  WarnOfFew(samples.count, warnings);
  WarnOfConstants(survey, "the samples", warnings);
  WarnOfNonFinite(survey, warnings);
}

void WarnOfSaturation(const ir::Graph& graph, const report::DiffResult& figures,
                      Warnings& warnings) {
  for (const ir::ValueId input : graph.inputs()) {
    const auto at = std::ranges::find(figures.values, graph.name(input), &v1::ValueNumerics::name);
    if (at == figures.values.end() || at->saturated_ratio() <= kSaturatedShare) continue;
    AddWarning(
        warnings, "saturated_input",
        fmt::format("{:.1f} % of the elements of input '{}' are outside of its quantized range: "
                    "the samples differ from those that calibrated, or are scaled otherwise",
                    100 * at->saturated_ratio(), graph.name(input)),
        graph.name(input));
  }
}

void WarnOfDrift(const ir::Graph& graph, const report::DiffResult& figures, Warnings& warnings) {
  const auto worst = WorstSqnrOf(figures.outputs);
  if (!worst) return;
  const v1::ValueNumerics* most = nullptr;
  int64_t count = 0;
  for (const v1::ValueNumerics& value : figures.values) {
    if (value.drift().share() <= kDriftShare || value.drift().excess() <= kDriftExcess) continue;
    const auto own = OwnSqnrOf(graph, value);
    if (!own || *own > *worst + kErrorShareDb) continue;
    ++count;
    if (most == nullptr || value.drift().share() > most->drift().share()) most = &value;
  }
  if (most == nullptr) return;
  AddWarning(warnings, "range_drift",
             fmt::format("{} of the samples that evaluate leave the range of those that "
                         "calibrate: '{}' with {:.2f} % of its elements, by up to {:.1f} % of the "
                         "range's width; calibrate with more samples, or with more like these",
                         count == 1 ? std::string("1 value") : fmt::format("{} values", count),
                         most->name(), 100 * most->drift().share(), 100 * most->drift().excess()),
             most->name());
}

Warnings DataWarningsOf(const JobContext& job, const Quantized& quantized,
                        const Compared& compared) {
  Warnings warnings;
  WarnOfSets(quantized, warnings);
  if (job.request.profile) WarnOfProfile(quantized, warnings);
  if (!compared.figures) return warnings;
  const SampleSets& sets = quantized.samples;
  if (sets.given() && sets.role == SamplesRole::kCalibration) {
    const std::string part =
        quantized.other_samples == 0
            ? ""
            : fmt::format(" (the {} of the first size, without the {} of other sizes)",
                          sets.calibration.count, quantized.other_samples);
    AddWarning(warnings, "evaluated_on_calibration",
               fmt::format("the report's figures are of the samples that also calibrated{}, which "
                           "flatters them; give others as --evaluate, or 8 samples and more, of "
                           "which --holdout holds some back",
                           part));
  }
  if (sets.given() && sets.role != SamplesRole::kCalibration) {
    WarnOfDrift(quantized.float_graph, *compared.figures, warnings);
  }
  // Samples that calibrated saturate by choice only: where a Relu or --calibration narrows a range.
  if (job.request.profile) WarnOfSaturation(quantized.float_graph, *compared.figures, warnings);
  WarnOfNans(compared.figures->nan_inputs, warnings);
  return warnings;
}

}  // namespace octavo::job

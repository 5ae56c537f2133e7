// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_warnings.h"

#include <algorithm>

#include "core/job/sample_survey.h"

namespace octavo::job {
namespace {

constexpr int64_t kEnoughSamples = 16;
constexpr double kSaturatedShare = 0.01;

std::string Others(size_t count, std::string_view one) {
  return count > 1 ? fmt::format("'{}' and {} more", one, count - 1) : fmt::format("'{}'", one);
}

void WarnOfConstants(const SampleSurvey& survey, Warnings& warnings) {
  for (const SurveyedInput& input : survey.Inputs()) {
    if (input.varies || input.elements < 2) continue;
    AddWarning(warnings, "constant_input",
               fmt::format("all {} elements of input '{}' are equal in the samples", input.elements,
                           input.name),
               input.name);
  }
}

void WarnOfProfile(const Quantized& quantized, Warnings& warnings) {
  const std::vector<std::string>& unmatched = quantized.profile_figures.unmatched_entries;
  if (!unmatched.empty()) {
    AddWarning(warnings, "profile_unmatched",
               fmt::format("the profile's entry {} names no value of the model",
                           Others(unmatched.size(), unmatched.front())));
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
  if (survey == nullptr) return;
  for (const SurveyedInput& input : survey->Inputs()) {
    if (input.nans + input.infinities == 0) continue;
    AddWarning(warnings, "non_finite_samples",
               fmt::format("input '{}' has {} NaN and {} infinite elements in the samples",
                           input.name, input.nans, input.infinities),
               input.name);
  }
}

void WarnOfNans(const std::vector<report::NanInput>& inputs, Warnings& warnings) {
  for (const report::NanInput& input : inputs) {
    AddWarning(warnings, "nan_input", Describe(input), input.node);
  }
}

void WarnOfSamples(const data::Samples& samples, const SampleSurvey* survey, Warnings& warnings) {
  const bool given = samples.random || samples.origin;
  if (!given) return;  // none, or those of a model without inputs
  if (samples.image_unused) {
    AddWarning(
        warnings, "image_unused",
        "--image is given, but no sample is a PNG or JPEG image: arrays are used as they are");
  }
  for (const std::string& text : samples.unused) AddWarning(warnings, "unknown_name", text);
  if (samples.random) {
    AddWarning(warnings, "random_samples",
               "the samples are random numbers: ranges and figures say nothing about real inputs");
  }
  if (samples.count < kEnoughSamples) {
    AddWarning(warnings, "few_samples",
               fmt::format("{}; ranges and figures need {} or more",
                           samples.count == 1 ? std::string("there is 1 sample")
                                              : fmt::format("there are {} samples", samples.count),
                           kEnoughSamples));
  }
  if (survey != nullptr) WarnOfConstants(*survey, warnings);
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

Warnings DataWarningsOf(const JobContext& job, const Quantized& quantized,
                        const Compared& compared) {
  Warnings warnings;
  data::Samples all = quantized.samples;
  all.count += quantized.other_samples;
  WarnOfSamples(all, quantized.survey.get(), warnings);
  if (job.request.profile) WarnOfProfile(quantized, warnings);
  if (!compared.figures) return warnings;
  const bool given = quantized.samples.random || quantized.samples.origin;
  if (given && quantized.profile && !job.request.profile) {
    const std::string part =
        quantized.other_samples == 0
            ? ""
            : fmt::format(" (the {} of the first size, without the {} of other sizes)",
                          quantized.samples.count, quantized.other_samples);
    AddWarning(
        warnings, "evaluated_on_calibration",
        fmt::format(
            "the report's figures are of the samples that also calibrated{}, which flatters them; "
            "for figures of other samples, calibrate with `octavo profile` and give its file as "
            "--profile",
            part));
  }
  // Samples that calibrated saturate by choice only: where a Relu or --calibration narrows a range.
  if (job.request.profile) WarnOfSaturation(quantized.float_graph, *compared.figures, warnings);
  WarnOfNans(compared.figures->nan_inputs, warnings);
  return warnings;
}

}  // namespace octavo::job

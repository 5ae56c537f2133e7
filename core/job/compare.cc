// SPDX-License-Identifier: Apache-2.0
// Stage "compare": runs the float graph and the integer graph on the samples that evaluate, and for
// comparison on some that calibrated.
#include <algorithm>

#include "core/data/hold_out.h"
#include "core/job/gates.h"
#include "core/job/job_warnings.h"
#include "core/job/stages.h"
#include "core/job/survey.h"
#include "core/job/synthetic.h"

namespace octavo::job {
namespace {

constexpr int64_t kSyntheticSamples = 8;

// Batches that calibrate and are compared too, at most: enough for a figure to hold next to that of
// the samples that evaluate.
constexpr int64_t kMostCalibrationBatches = 32;

report::CalibratedRanges RangesOf(const profile::Profile& profile) {
  report::CalibratedRanges ranges;
  for (const auto& [name, entry] : profile.values) ranges[name] = {entry.min, entry.max};
  return ranges;
}

// The batches of the calibration samples that are compared as well; none where they evaluate.
ir::Batches CalibrationBatches(const SampleSets& samples) {
  if (samples.role == SamplesRole::kCalibration || samples.calibration.batches.empty()) return {};
  const int64_t most = std::min(kMostCalibrationBatches, samples.evaluation.batches.size());
  return data::FirstOf(samples.calibration.batches, most);
}

// The samples of the figures; drawn from the profile where none are given.
struct Figures {
  data::Samples samples = {};
  std::string source = {};
  SamplesRole role = SamplesRole::kEvaluation;
};

Figures SamplesOf(const Quantized& quantized) {
  const SampleSets& sets = quantized.samples;
  if (!sets.evaluation.batches.empty()) {
    return {sets.evaluation, sets.evaluation.random ? "random" : "data", sets.role};
  }
  if (!quantized.profile || quantized.quantized_model) return {};
  return {DrawSamples(quantized.float_graph, *quantized.profile, /*seed=*/0, kSyntheticSamples),
          "synthetic", SamplesRole::kSynthetic};
}

// Sets the outputs' figures on calibration samples, by a run of their own.
Status AddCalibrationFigures(const Quantized& quantized, const ir::Batches& batches,
                             const report::DiffOptions& options, const JobContext& job,
                             report::DiffResult& figures) {
  if (batches.empty()) return {};
  OCTAVO_TRY(const report::DiffResult again,
             report::Diff(quantized.float_graph, quantized.rewriting.graph, batches, options,
                          *job.settings.pool, job.settings.stop));
  for (size_t i = 0; i < figures.outputs.size() && i < again.outputs.size(); ++i) {
    const v1::ValueNumerics& output = again.outputs[i];
    if (output.has_sqnr_db()) figures.outputs[i].set_calibration_sqnr_db(output.sqnr_db());
  }
  return {};
}

// Runs both graphs on the samples, and on some that calibrated.
Result<report::DiffResult> RunBoth(const JobContext& job, const Quantized& quantized,
                                   const data::Samples& samples) {
  const ir::Batches calibration = CalibrationBatches(quantized.samples);
  const int64_t total = samples.batches.size() + calibration.size();
  int64_t before = 0;
  report::DiffOptions options{
      .numerics = job.settings.target.numerics,
      .progress = [&](int64_t done, int64_t) { job.Report("integer-run", before + done, total); },
      .kept = quantized.kept.samples.empty() ? nullptr : &quantized.kept,
      .labels = samples.labels ? &*samples.labels : nullptr,
      .batch = samples.count / std::max<int64_t>(samples.batches.size(), 1),
      .numbers = &samples.numbers};
  report::CalibratedRanges ranges;
  if (quantized.profile) {
    ranges = RangesOf(*quantized.profile);
    options.calibrated = &ranges;
  }
  OCTAVO_TRY(report::DiffResult figures,
             report::Diff(quantized.float_graph, quantized.rewriting.graph, samples.batches,
                          options, *job.settings.pool, job.settings.stop));
  before = samples.batches.size();
  options.labels = nullptr;
  options.calibrated = nullptr;
  options.scope = report::DiffOptions::Scope::kOutputs;
  OCTAVO_CHECK(AddCalibrationFigures(quantized, calibration, options, job, figures));
  return figures;
}

}  // namespace

Result<Compared> Compare(const JobContext& job, const Quantized& quantized) {
  Compared compared;
  const bool gated = HasGate(job.options());
  const auto warn = [&](ir::WarningCode code, std::string_view message) {
    AddWarning(compared.warnings, code, message);
  };
  if (const ir::Node* node = WithoutMeaning(quantized.float_graph); node != nullptr && !gated) {
    warn("no_figures",
         fmt::format("the report has no figures: only target {} knows what {} '{}' computes",
                     job.settings.target.name, node->op->name, node->name));
    return compared;
  }
  const Figures of = SamplesOf(quantized);
  if (of.samples.batches.empty()) return compared;
  compared.samples_source = of.source;
  compared.samples_role = Name(of.role);
  compared.samples = of.samples.count;
  if (of.role == SamplesRole::kSynthetic) {
    warn("synthetic_samples",
         "no data was given: the report's figures come from samples drawn from the profile");
  }
  OCTAVO_TRY(compared.figures, RunBoth(job, quantized, of.samples));
  // Lowering computes values that the model does not have.
  std::erase_if(compared.figures->values, [&](const v1::ValueNumerics& value) {
    return !quantized.model_names.contains(value.name());
  });
  SetGroups(job, quantized, *compared.figures);
  if (!job.options().advise) return compared;
  if (!quantized.profile || quantized.quantized_model || job.options().no_quantize) {
    warn("no_effect", "--advise has no effect: nothing is quantized");
    return compared;
  }
  OCTAVO_TRY(compared.shares, MeasureErrorShares(job, quantized, *compared.figures));
  return compared;
}

}  // namespace octavo::job

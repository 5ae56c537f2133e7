// SPDX-License-Identifier: Apache-2.0
// Stage "compare": runs the float graph and the integer graph on the same samples.
#include <algorithm>

#include "core/job/gates.h"
#include "core/job/job_warnings.h"
#include "core/job/stages.h"
#include "core/job/survey.h"
#include "core/job/synthetic.h"

namespace octavo::job {
namespace {

constexpr int64_t kSyntheticSamples = 8;

}  // namespace

Result<Compared> Compare(const JobContext& job, const Quantized& quantized) {
  Compared compared;
  const Options& options = job.options();
  const bool gated = HasGate(options);
  const auto warn = [&](ir::WarningCode code, std::string_view message) {
    AddWarning(compared.warnings, code, message);
  };
  const ir::Graph& float_graph = quantized.float_graph;
  if (const ir::Node* node = WithoutMeaning(float_graph); node != nullptr && !gated) {
    warn("no_figures",
         fmt::format("the report has no figures: only target {} knows what {} '{}' computes",
                     job.settings.target.name, node->op->name, node->name));
    return compared;
  }
  data::Samples drawn;
  if (quantized.samples.batches.empty()) {
    if (!quantized.profile || quantized.quantized_model) return compared;
    drawn = DrawSamples(float_graph, *quantized.profile, /*seed=*/0, kSyntheticSamples);
    compared.samples_source = "synthetic";
    compared.samples_role = "synthetic";
    warn("synthetic_samples",
         "no data was given: the report's figures come from samples drawn from the profile");
  } else {
    compared.samples_source = quantized.samples.random ? "random" : "data";
    // Samples choose the ranges, unless a profile or the model itself brings them.
    const bool calibrates = quantized.profile && !job.request.profile;
    compared.samples_role = calibrates ? "calibration" : "evaluation";
  }
  const data::Samples& samples = quantized.samples.batches.empty() ? drawn : quantized.samples;
  compared.samples = samples.count;
  OCTAVO_TRY(
      compared.figures,
      report::Diff(
          float_graph, quantized.rewriting.graph, samples.batches,
          {.numerics = job.settings.target.numerics,
           .progress = [&](int64_t done, int64_t total) { job.Report("integer-run", done, total); },
           .kept = quantized.kept.samples.empty() ? nullptr : &quantized.kept,
           .labels = samples.labels ? &*samples.labels : nullptr,
           .batch = samples.count / std::max<int64_t>(samples.batches.size(), 1)},
          *job.settings.pool, job.settings.stop));
  // Lowering computes values that the model does not have.
  std::erase_if(compared.figures->values, [&](const v1::ValueNumerics& value) {
    return !quantized.model_names.contains(value.name());
  });
  return compared;
}

}  // namespace octavo::job

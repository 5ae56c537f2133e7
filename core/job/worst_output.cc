// SPDX-License-Identifier: Apache-2.0
#include "core/job/worst_output.h"

#include <algorithm>
#include <limits>

namespace octavo::job {

double WorstSqnr(const std::vector<v1::ValueNumerics>& outputs) {
  double worst = std::numeric_limits<double>::infinity();
  for (const v1::ValueNumerics& output : outputs) {
    if (output.exact()) continue;
    worst = std::min(
        worst, output.has_sqnr_db() ? output.sqnr_db() : -std::numeric_limits<double>::infinity());
  }
  return worst;
}

Result<double> MeasureWorstSqnr(const JobContext& job, const Quantized& quantized) {
  const report::DiffOptions options{.numerics = job.settings.target.numerics,
                                    .scope = report::DiffOptions::Scope::kOutputs};
  OCTAVO_TRY(const report::DiffResult figures,
             report::Diff(quantized.float_graph, quantized.rewriting.graph,
                          quantized.samples.evaluation.batches, options, *job.settings.pool,
                          job.settings.stop));
  return WorstSqnr(figures.outputs);
}

}  // namespace octavo::job

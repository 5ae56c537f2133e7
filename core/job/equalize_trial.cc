// SPDX-License-Identifier: Apache-2.0
#include "core/job/equalize_trial.h"

#include "core/job/search.h"
#include "core/job/survey.h"
#include "core/job/trial.h"
#include "core/report/output_scores.h"

namespace octavo::job {
namespace {

// Of descent: each weight's error meets those of all terms of its block.
int64_t GradientWork(const ir::Graph& graph) {
  int64_t work = 0;
  for (const profile::Layer& layer : profile::LayersOf(graph)) {
    for (const profile::TermBlock& block : profile::BlocksOf(layer)) {
      work += layer.outputs() * block.terms * block.terms;
    }
  }
  return work;
}

class Equalizing {
 public:
  Equalizing(const JobContext& job, const Profiled& profiled)
      : trial_(job),
        half_(HalfOf(profiled)),
        scores_(half_.prepared.samples.evaluation.batches, profiled.halves->outputs) {
    Options& options = trial_.settings.options;
    options.stop_before.clear();
    const bool descends = profiled.even_moments != nullptr;
    if (!descends && *options.rounding == Rounding::kDescent) options.rounding = Rounding::kBias;
  }

  Result<std::optional<v1::EqualizeTrial>> Run() {
    trial_.settings.options.equalize = Equalize::kOn;
    OCTAVO_TRY(const std::optional<double> on, Score());
    if (!on) return std::optional<v1::EqualizeTrial>();
    trial_.settings.options.equalize = Equalize::kOff;
    OCTAVO_TRY(const std::optional<double> off, Score());
    if (!off) return std::optional<v1::EqualizeTrial>();
    v1::EqualizeTrial figures;
    figures.set_score_db(*off);
    figures.set_equalized_score_db(*on);
    figures.set_chosen(*on >= *off + kLeastGainDb);
    return std::optional(figures);
  }

 private:
  // A copy of the job that the even batches calibrate, and that the odd ones score.
  static Profiled HalfOf(const Profiled& profiled) {
    Profiled half{.prepared = profiled.prepared,
                  .profile = profiled.halves->even,
                  .figures = profiled.figures,
                  .moments = profiled.even_moments ? profiled.even_moments : profiled.moments};
    PartForTrial(half.prepared.samples);
    return half;
  }

  static bool Divided(const Quantized& quantized) {
    return !quantized.rewriting.findings.division.layers.empty();
  }

  // nullopt where the result has no figure, or should be equalized and is not.
  Result<std::optional<double>> Score() {
    const passes::Settings& settings = trial_.settings;
    OCTAVO_TRY(const Quantized quantized, trial_.Quantize(half_));
    if (WithoutMeaning(quantized.float_graph) != nullptr) return std::optional<double>();
    if (settings.options.equalize == Equalize::kOn && !Divided(quantized)) {
      return std::optional<double>();
    }
    return scores_.Of(quantized.rewriting.graph, *settings.target.numerics, {}, *settings.pool,
                      settings.stop);
  }

  Trial trial_;
  const Profiled half_;
  const report::OutputScores scores_;
};

}  // namespace

EqualizeTrialPlan PlanEqualizeTrial(const JobContext& job, const Prepared& prepared) {
  EqualizeTrialPlan plan;
  plan.tries = job.options().equalize == Equalize::kAuto && !job.options().search &&
               !prepared.rewriting.stopped && prepared.other_sizes.empty() &&
               prepared.samples.calibration.batches.size() >= 2;
  plan.descends = plan.tries && *job.options().rounding == Rounding::kDescent &&
                  GradientWork(prepared.rewriting.graph) <= kMostTrialWork;
  return plan;
}

Result<std::optional<v1::EqualizeTrial>> SettleEqualize(const JobContext& job, Profiled& profiled,
                                                        Options& options) {
  std::optional<v1::EqualizeTrial> trial;
  if (profiled.halves) {
    // Calibration has ended: what follows are passes, or trials of --accuracy-budget.
    const bool budget = options.accuracy_budget > 0;
    job.Report(budget ? "budget" : "passes", 0,
               budget ? 1 : static_cast<int64_t>(passes::AllPasses().size()));
    OCTAVO_TRY(trial, Equalizing(job, profiled).Run());
  }
  if (options.equalize == Equalize::kAuto) {
    options.equalize = trial && trial->chosen() ? Equalize::kOn : Equalize::kOff;
  }
  profiled.halves.reset();
  profiled.even_moments.reset();
  return trial;
}

}  // namespace octavo::job

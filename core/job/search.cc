// SPDX-License-Identifier: Apache-2.0
#include "core/job/search.h"

#include "core/data/hold_out.h"
#include "core/job/job_warnings.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/job/trial.h"
#include "core/options/option_words.h"
#include "core/report/output_scores.h"

namespace octavo::job {
namespace {

using profile::Calibration;

constexpr int64_t kLeastSamples = 2;  // one calibrates, one scores

struct Candidate {
  Calibration calibration = {};
  Rounding rounding = Rounding::kNearest;
  Equalize equalize = Equalize::kOff;
};

// Those of one way to treat channels.
std::vector<Candidate> CandidatesOf(const Options& given, Equalize equalize, bool with_nearest) {
  std::vector<Calibration> methods;
  if (GivesCalibration(given)) {
    methods = {given.calibration};
  } else {
    for (const std::string_view method : kTriedCalibrations) {
      methods.push_back(*profile::ParseCalibration(method));
    }
  }
  std::vector<Candidate> candidates;
  if (!given.rounding && with_nearest) {
    candidates.push_back({methods.front(), Rounding::kNearest, equalize});
  }
  const Rounding rounding = given.rounding.value_or(Rounding::kDescent);
  for (const Calibration& method : methods) candidates.push_back({method, rounding, equalize});
  return candidates;
}

std::vector<Candidate> CandidatesOf(const Options& given) {
  const bool open = given.equalize == Equalize::kAuto;
  std::vector<Candidate> candidates =
      CandidatesOf(given, open ? Equalize::kOff : given.equalize, /*with_nearest=*/true);
  if (open) {
    const std::vector<Candidate> more = CandidatesOf(given, Equalize::kOn, /*with_nearest=*/false);
    candidates.insert(candidates.end(), more.begin(), more.end());
  }
  return candidates;
}

// A copy of the job that the even samples calibrate, and that the odd ones score.
Prepared HalfOf(const Prepared& prepared) {
  Prepared half = prepared;
  PartForTrial(half.samples);
  half.other_sizes.clear();
  return half;
}

class Searcher {
 public:
  Searcher(const JobContext& job, const Prepared& prepared)
      : job_(job),
        candidates_(CandidatesOf(job.request.options)),
        half_(HalfOf(prepared)),
        trial_(job,
               [this](const Progress& progress) {
                 if (progress.stage == "profile") Report(progress.done);
               }),
        done_(half_.samples.calibration.batches.size()),
        total_(done_ + half_.samples.evaluation.batches.size() *
                           static_cast<int64_t>(candidates_.size())) {}

  // Empty if no output has a figure.
  Result<std::optional<Found>> Run() {
    Report(0);
    OCTAVO_TRY(const Profiled profiled, Calibrate(trial_.job(), std::move(half_), Reuse::kNothing));
    half_ = {};
    Found found;
    double best = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      OCTAVO_TRY(const std::optional<double> score, ScoreOf(candidates_[i], profiled));
      if (!score) return std::optional<Found>();
      if (i == 0 || *score >= best + kLeastGainDb) {
        best = *score;
        chosen = i;
      }
      v1::SearchCandidate& figures = found.candidates.emplace_back();
      figures.set_calibration(profile::Name(candidates_[i].calibration));
      figures.set_rounding(std::string(WordOf(candidates_[i].rounding)));
      figures.set_equalize(candidates_[i].equalize == Equalize::kOn);
      figures.set_score_db(*score);
    }
    found.candidates[chosen].set_chosen(true);
    found.calibration = candidates_[chosen].calibration;
    found.rounding = candidates_[chosen].rounding;
    found.equalize = candidates_[chosen].equalize;
    return std::optional<Found>(std::move(found));
  }

 private:
  Result<std::optional<double>> ScoreOf(const Candidate& candidate, const Profiled& profiled) {
    passes::Settings& settings = trial_.settings;
    settings.options.calibration = candidate.calibration;
    settings.options.rounding = candidate.rounding;
    settings.options.equalize = candidate.equalize;
    OCTAVO_TRY(const Quantized quantized, trial_.Quantize(profiled));
    if (WithoutMeaning(quantized.float_graph) != nullptr) return std::optional<double>();
    ThreadPool& pool = *settings.pool;
    if (!scores_) {
      // No candidate changes the results of the float graph: factors are powers of two.
      OCTAVO_TRY(scores_, report::OutputScores::Create(quantized.float_graph,
                                                       quantized.samples.evaluation.batches, pool,
                                                       settings.stop));
    }
    return scores_->Of(
        quantized.rewriting.graph, *settings.target.numerics, [this] { Report(++done_); }, pool,
        settings.stop);
  }

  // Counts the batches that calibrate, then those that score each candidate.
  void Report(int64_t done) const { job_.Report("search", done, total_); }

  const JobContext& job_;
  const std::vector<Candidate> candidates_;
  Prepared half_;
  Trial trial_;
  std::optional<report::OutputScores> scores_ = {};
  int64_t done_ = 0;  // once the samples have calibrated
  const int64_t total_;
};

}  // namespace

void PartForTrial(SampleSets& samples) {
  data::Parted parted = data::HoldOut(samples.calibration, 2);
  samples.calibration = std::move(parted.calibration);
  samples.evaluation = std::move(parted.evaluation);
  samples.evaluation.batches = data::FirstOf(samples.evaluation.batches, kMostScored);
  samples.role = SamplesRole::kHeldOut;
}

Result<Found> Search(const JobContext& job, Prepared& prepared) {
  const Options& options = job.options();
  Found own{.calibration = options.calibration,
            .rounding = *options.rounding,
            .equalize = options.equalize == Equalize::kAuto ? Equalize::kOff : options.equalize};
  Warnings& warnings = prepared.rewriting.findings.warnings;
  const bool quantizes =
      !options.no_quantize && !prepared.quantized_model && HasFloatValues(prepared.rewriting.graph);
  if (!quantizes) {
    AddWarning(warnings, "nothing_to_quantize", "--search has no effect: nothing is quantized");
    return own;
  }
  const int64_t samples = prepared.samples.calibration.batches.size();
  if (samples < kLeastSamples) {
    AddWarning(warnings, "few_samples",
               fmt::format("--search tried nothing: it needs {} samples that calibrate, and there "
                           "{} {}",
                           kLeastSamples, samples == 1 ? "is" : "are", samples));
    return own;
  }
  OCTAVO_TRY(std::optional<Found> found, Searcher(job, prepared).Run());
  if (found) return *std::move(found);
  AddWarning(warnings, "no_figures",
             "--search chose nothing: no output has a figure to compare candidates by");
  return own;
}

}  // namespace octavo::job

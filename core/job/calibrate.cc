// SPDX-License-Identifier: Apache-2.0
// Stage "calibrate": gets the ranges of the float values from the profile or from the samples.
#include "core/base/nearest_name.h"
#include "core/job/calibration_run.h"
#include "core/job/equalize_trial.h"
#include "core/job/memory_estimate.h"
#include "core/job/search.h"
#include "core/job/settings.h"
#include "core/job/stages.h"
#include "core/job/survey.h"
#include "core/options/option_words.h"
#include "core/profile/collect.h"

namespace octavo::job {
namespace {

Failure Mismatch(std::string_view field, std::string message) {
  return Fail(Code::kInvalidArgument, "{}", message).Field(field).Reason("PROFILE_MISMATCH");
}

void Warn(Prepared& prepared, ir::WarningCode code, std::string message) {
  prepared.rewriting.findings.warnings.push_back(
      {.code = code, .message = std::move(message), .node = {}});
}

// A profile of another model causes a warning, or an error with --strict-profile.
Status CheckDigest(const JobContext& job, const profile::Profile& profile, Prepared& prepared) {
  const std::string own = "sha256:" + prepared.digest.get();
  if (profile.model_digest.empty() || profile.model_digest == own) return {};
  std::string message =
      fmt::format("the profile is of model {}, but the model is {}", profile.model_digest, own);
  if (job.options().strict_profile) return Mismatch("model_digest", std::move(message));
  Warn(prepared, "profile_digest", std::move(message));
  return {};
}

std::vector<std::string_view> ValuesWithoutEntry(const ir::Graph& graph,
                                                 const profile::Profile& profile) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased && !value.constant && !profile.values.contains(value.name)) {
      names.push_back(value.name);
    }
  }
  return names;
}

Status CheckMatches(const JobContext& job, const ProfileFigures& figures) {
  if (figures.matched == 0) {
    return Mismatch("profile",
                    figures.unmatched_entries.empty()
                        ? "the profile has no entries"
                        : fmt::format("no entry of the profile names a value of the model; the "
                                      "first entry is '{}'{}",
                                      figures.unmatched_entries.front(), figures.hint));
  }
  if (job.options().strict_profile && !figures.unmatched_entries.empty()) {
    const std::string& name = figures.unmatched_entries.front();
    return Mismatch(name, fmt::format("the profile's entry '{}' names no value of the model{}",
                                      name, figures.hint));
  }
  return {};
}

// Reads the request's profile and maps its names to the model's.  `unmatched` receives the names
// that match no value.
Result<profile::Profile> ReadProfile(const JobContext& job, Prepared& prepared,
                                     std::vector<std::string>& unmatched) {
  OCTAVO_TRY(profile::Profile profile, profile::Parse(job.request.profile->bytes.text()));
  OCTAVO_CHECK(CheckDigest(job, profile, prepared));
  if (!profile.glow_names) return profile;
  profile::NameIndex::Matched matched = prepared.names->Match(profile);
  unmatched = std::move(matched.unmatched);
  return std::move(matched.profile);
}

// Selects float values that Compare would recompute, up to two fifths of the constants' bytes: the
// float executor of Compare then packs fewer weights.
std::vector<ir::ValueId> ValuesToKeep(const Prepared& prepared) {
  const ir::Graph& graph = prepared.rewriting.graph;
  return float_exec::CostlyValues(graph, prepared.samples.calibration.batches.size(),
                                  float_exec::ConstantBytes(graph) * 2 / 5);
}

// Of samples of other sizes: the model is imported and prepared at each.
Result<profile::Profile> CollectAtSize(const JobContext& job, const Prepared& prepared,
                                       const data::SampleSource& samples) {
  OCTAVO_TRY(Loaded loaded, LoadAtSize(LoadRequestOf(job), samples));
  ir::Graph& graph = loaded.model.graph;
  const MemoryEstimate estimate = EstimateMemory(graph, {.runs = true,
                                                         .batches_held = 1,
                                                         .fold_budget = job.options().fold_budget,
                                                         .target = job.settings.target});
  OCTAVO_CHECK(CheckMemory(graph, estimate, job.request.limits.memory_bytes));
  passes::Settings settings = job.settings;
  settings.checkpoint = {};
  passes::Findings findings;
  OCTAVO_CHECK(passes::RunPipeline(passes::PassesOf({passes::Phase::kPrepare}),
                                   RunOptionsOf(job.options()), settings, graph, findings));
  return profile::Collect(
      graph, loaded.samples.batches,
      {.model_digest = "sha256:" + prepared.digest.get(), .samples = loaded.samples.count},
      *job.settings.pool, job.settings.stop);
}

Status AddOtherSizes(const JobContext& job, Profiled& profiled) {
  if (profiled.prepared.other_sizes.empty()) return {};
  std::vector<profile::Profile> profiles = {*std::move(profiled.profile)};
  for (const data::SampleSource& samples : profiled.prepared.other_sizes) {
    OCTAVO_TRY(profile::Profile profile, CollectAtSize(job, profiled.prepared, samples));
    profiled.other_samples += profile.samples;
    profiles.push_back(std::move(profile));
  }
  OCTAVO_TRY(profiled.profile, profile::Merge(profiles));
  return {};
}

}  // namespace

Result<Profiled> Calibrate(const JobContext& job, Prepared given, Reuse reuse) {
  Profiled profiled{.prepared = std::move(given)};
  Prepared& prepared = profiled.prepared;
  const ir::Graph& graph = prepared.rewriting.graph;
  const bool may_quantize = !job.options().no_quantize && !prepared.quantized_model;
  const bool quantizes = may_quantize && HasFloatValues(graph);
  if (may_quantize && !quantizes) {
    Warn(prepared, "nothing_to_quantize",
         "the model has no float32 values, so nothing is quantized; only rewrite rules for its "
         "types were applied");
  }
  std::vector<std::string> unmatched;
  if (job.request.profile) {
    OCTAVO_TRY(profiled.profile, ReadProfile(job, prepared, unmatched));
    const Rounding rounding = *job.options().rounding;
    if (quantizes && rounding != Rounding::kNearest) {
      Warn(prepared, "weights_nearest",
           fmt::format("--rounding {} needs samples that calibrate: with --profile, weights are "
                       "rounded to their nearest integers",
                       WordOf(rounding)));
    }
  } else if (quantizes && !prepared.samples.calibration.batches.empty()) {
    // Compare runs other samples where some are held back.
    const bool keeps =
        reuse == Reuse::kFloatValues && prepared.samples.role == SamplesRole::kCalibration;
    if (keeps) profiled.kept.values = ValuesToKeep(prepared);
    const EqualizeTrialPlan plan = PlanEqualizeTrial(job, prepared);
    if (plan.tries) profiled.halves = {.kept_odd = kMostScored};
    const CalibrationRequest request{
        .kept = keeps ? &profiled.kept : nullptr,
        .progress = [&](int64_t done, int64_t total) { job.Report("profile", done, total); },
        .channels = CollectsChannels(job.options()),
        .halves = profiled.halves ? &*profiled.halves : nullptr,
        .even_moments = plan.descends};
    OCTAVO_TRY(CalibrationRun run,
               RunCalibration(job, graph, prepared.samples.calibration, request));
    run.profile.model_digest = "sha256:" + prepared.digest.get();
    profiled.profile = std::move(run.profile);
    profiled.moments = std::move(run.moments);
    profiled.even_moments = std::move(run.even_moments);
    OCTAVO_CHECK(AddOtherSizes(job, profiled));
  } else {
    return profiled;
  }
  profiled.figures = MatchProfile(graph, *profiled.profile);
  // Where all values are constants, none has a range.
  if (!job.request.profile) return profiled;
  auto& entries = profiled.figures.unmatched_entries;
  entries.insert(entries.end(), unmatched.begin(), unmatched.end());
  if (!entries.empty()) {
    profiled.figures.hint =
        DidYouMean(entries.front(), ValuesWithoutEntry(graph, *profiled.profile));
  }
  OCTAVO_CHECK(CheckMatches(job, profiled.figures));
  return profiled;
}

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Stage "quantize": runs the passes from lowering to the end.
#include <algorithm>

#include "core/job/accuracy_budget.h"
#include "core/job/calibration_run.h"
#include "core/job/job_warnings.h"
#include "core/job/settle.h"
#include "core/job/stages.h"
#include "core/job/survey.h"

namespace octavo::job {
namespace {

bool Ran(std::string_view pass, const Rewriting& rewriting) {
  return std::ranges::any_of(rewriting.records,
                             [&](const passes::PassRecord& run) { return run.name == pass; });
}

// Everything may have stayed float for a reason of its own.
void WarnOfNoIntegers(const JobContext& job, Quantized& result) {
  Rewriting& rewriting = result.rewriting;
  const bool quantizes = result.profile && !job.options().no_quantize && !result.quantized_model;
  if (!quantizes || rewriting.stopped || HasQuantizedValues(rewriting.graph)) return;
  AddWarning(rewriting.findings.warnings, "nothing_to_quantize",
             "no operator was quantized; the report's float_nodes say why");
}

Result<BudgetChoice> ChooseWide(const JobContext& job, const Profiled& profiled) {
  job.Report("budget", 0, 1);
  OCTAVO_TRY(BudgetChoice choice, ChooseWithinBudget(Trial(job), profiled));
  job.Report("budget", 1, 1);
  return choice;
}

void WarnOfBudget(const v1::AccuracyBudget& budget, Warnings& warnings) {
  if (budget.reached()) return;
  const std::string has = budget.has_sqnr_db() ? fmt::format("{:.1f} dB", budget.sqnr_db())
                                               : std::string("no defined SQNR");
  AddWarning(
      warnings, "budget_missed",
      fmt::format("--accuracy-budget {:g} was not reached: the result has {}, and {:.0f} % of "
                  "the elements of activations have 16 bits",
                  budget.target_db(), has, 100 * budget.element_share()));
}

// The passes of the float graph that the target and the ranges decide.  A graph that they change
// computes other values, so the kept ones no longer apply.
Status FinishFloats(const JobContext& job, std::shared_ptr<profile::MomentSource>& moments,
                    Quantized& result) {
  Rewriting& rewriting = result.rewriting;
  const size_t prepare_passes = rewriting.records.size();
  OCTAVO_CHECK(RunPhases(job, "passes", {passes::Phase::kLower}, rewriting));
  OCTAVO_CHECK(
      EqualizeChannels(job, result.samples.calibration, rewriting, result.profile, moments));
  for (const auto& [name, old] : rewriting.findings.division.names) {
    if (result.model_names.contains(old)) result.model_names.insert(name);
  }
  const auto records = std::span(rewriting.records).subspan(prepare_passes);
  if (std::ranges::any_of(records, &passes::PassRecord::changed)) result.kept = {};
  result.float_graph = rewriting.graph;
  return {};
}

}  // namespace

Result<Quantized> QuantizeOnce(const JobContext& given, Profiled profiled,
                               const std::vector<std::string>& wide) {
  using passes::Phase;
  Prepared& prepared = profiled.prepared;
  Quantized result{.rewriting = std::move(prepared.rewriting),
                   .samples = std::move(prepared.samples),
                   .digest = prepared.digest,
                   .model_names = std::move(prepared.model_names),
                   .before = std::move(prepared.model),
                   .rescales_before = prepared.rescales,
                   .quantized_model = prepared.quantized_model,
                   .profile = std::move(profiled.profile),
                   .profile_figures = std::move(profiled.figures),
                   .other_samples = profiled.other_samples,
                   .kept = std::move(profiled.kept)};
  passes::Settings settings = given.settings;
  if (result.profile) settings.profile = &*result.profile;
  settings.moments = profiled.moments.get();
  Rewriting& rewriting = result.rewriting;
  settings.options.keep_float = NodesToKeepFloat(rewriting.float_names, rewriting.graph);
  settings.options.int16.insert(settings.options.int16.end(), wide.begin(), wide.end());
  const JobContext job{given.request, settings, given.observer, given.certificate};

  OCTAVO_CHECK(FinishFloats(job, profiled.moments, result));
  settings.moments = profiled.moments.get();

  const size_t float_passes = rewriting.records.size();
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kQuantize}, rewriting));
  // Those of a quantized model were counted before the first pass could share equal ones.
  if (!result.quantized_model && rewriting.records.size() > float_passes) {
    result.rescales_before = CountRescales(rewriting.graph);
  }
  const size_t optimize_passes = rewriting.records.size();
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kOptimize}, rewriting));
  OCTAVO_CHECK(Settle(job, optimize_passes, rewriting));
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kRound, Phase::kFinish}, rewriting));
  if (job.options().strict_profile && !rewriting.findings.missing_values.empty()) {
    const std::string& name = rewriting.findings.missing_values.front();
    return Fail(Code::kInvalidArgument, "the profile has no entry for '{}'", name)
        .Field(name)
        .Reason("PROFILE_MISMATCH");
  }
  result.rescales_after = CountRescales(rewriting.graph);
  WarnOfNoIntegers(job, result);
  WarnOfQuantizedEqual(rewriting.graph, rewriting.findings.warnings);
  const bool quantizes = settings.profile != nullptr && !job.options().no_quantize;
  if ((quantizes || result.quantized_model) && Ran("quantize", rewriting)) {
    WarnOfFloatNames(rewriting.float_names, rewriting.graph, rewriting.findings.warnings);
  }
  result.after.nodes = rewriting.graph.node_count();
  for (const ir::NodeId id : rewriting.graph.nodes()) {
    ++result.after.ops[std::string(rewriting.graph.node(id).op->name)];
  }
  return result;
}

Result<Quantized> Quantize(const JobContext& job, Profiled profiled) {
  const bool quantizes =
      profiled.profile && !job.options().no_quantize && !profiled.prepared.quantized_model;
  if (job.options().accuracy_budget == 0) return QuantizeOnce(job, std::move(profiled), {});
  if (!quantizes) {
    OCTAVO_TRY(Quantized result, QuantizeOnce(job, std::move(profiled), {}));
    AddWarning(result.rewriting.findings.warnings, "no_effect",
               "--accuracy-budget has no effect: nothing is quantized");
    return result;
  }
  OCTAVO_TRY(BudgetChoice choice, ChooseWide(job, profiled));
  OCTAVO_TRY(Quantized result, QuantizeOnce(job, std::move(profiled), choice.names));
  WarnOfBudget(choice.figures, result.rewriting.findings.warnings);
  result.budget = std::move(choice.figures);
  return result;
}

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// Runs a whole job: its stages (stages.h) in order, then the gates and the report.
#include "core/job/advice.h"
#include "core/job/certificate_file.h"
#include "core/job/equalize_trial.h"
#include "core/job/facts.h"
#include "core/job/gates.h"
#include "core/job/job_warnings.h"
#include "core/job/opaque.h"
#include "core/job/provenance.h"
#include "core/job/report_json.h"
#include "core/job/search.h"
#include "core/job/settings.h"
#include "core/job/stages.h"
#include "core/job/survey.h"
#include "core/job/worst_output.h"

namespace octavo::job {
namespace {

// Collects what the report states of all stages.
Findings FindingsOf(Quantized quantized, const Exported& exported, Compared compared) {
  Rewriting& rewriting = quantized.rewriting;
  Findings findings{.action_digest = exported.action_digest,
                    .before = std::move(quantized.before),
                    .after = std::move(quantized.after),
                    .rescales_before = quantized.rescales_before,
                    .rescales_after = quantized.rescales_after,
                    .profile = std::move(quantized.profile_figures),
                    .passes = std::move(rewriting.records),
                    .rewrites = std::move(rewriting.findings),
                    .numerics = std::move(compared.figures),
                    .samples = compared.samples,
                    .samples_source = std::move(compared.samples_source),
                    .samples_role = std::move(compared.samples_role)};
  findings.budget = std::move(quantized.budget);
  findings.shares = std::move(compared.shares);
  findings.calibration_samples = quantized.calibration_samples();
  findings.inputs = quantized.samples.Inputs();
  findings.after.bytes = exported.bytes;
  findings.kept_rescales = KeptRescales(rewriting.graph, findings.rewrites);
  findings.float_nodes = FloatNodes(rewriting.graph, findings.rewrites);
  AddOpaqueNodes(rewriting.contract, findings.float_nodes);
  CountOpaqueNodes(rewriting.contract, findings.after);
  auto& warnings = findings.rewrites.warnings;
  warnings.insert(warnings.end(), exported.warnings.begin(), exported.warnings.end());
  warnings.insert(warnings.end(), compared.warnings.begin(), compared.warnings.end());
  return findings;
}

Result<Outcome> RunStages(const Request& request, const StopToken& stop, const Observer& observer) {
  OCTAVO_TRY(passes::Settings settings, SettingsOf(request));
  ThreadPool pool(request.options.threads);
  settings.pool = &pool;
  settings.stop = stop;
  CertificateRecorder recorder;
  const JobContext job{request, settings, observer, request.certificate ? &recorder : nullptr};
  OCTAVO_TRY(Imported imported, ImportModel(job));
  OCTAVO_TRY(Prepared prepared, Prepare(job, std::move(imported)));
  std::vector<v1::SearchCandidate> candidates;
  if (settings.options.search) {
    OCTAVO_TRY(Found found, Search(job, prepared));
    settings.options.calibration = found.calibration;
    settings.options.rounding = found.rounding;
    settings.options.equalize = found.equalize;
    candidates = std::move(found.candidates);
  }
  OCTAVO_TRY(Profiled profiled, Calibrate(job, std::move(prepared), Reuse::kFloatValues));
  OCTAVO_TRY(const auto trial, SettleEqualize(job, profiled, settings.options));
  OCTAVO_TRY(Quantized quantized, Quantize(job, std::move(profiled)));
  OCTAVO_TRY(Exported exported, Export(job, quantized));
  OCTAVO_TRY(Compared compared, Compare(job, quantized));
  const Warnings of_data = DataWarningsOf(job, quantized, compared);
  compared.warnings.insert(compared.warnings.end(), of_data.begin(), of_data.end());

  Outcome outcome{.model = std::move(exported.model),
                  .external = std::move(exported.external),
                  .snapshots = std::move(quantized.rewriting.snapshots)};
  if (request.certificate) {
    // The certificate's last step covers the stamp, so that every byte of the result is certified.
    ir::Graph& graph = quantized.rewriting.graph;
    for (const auto& [key, value] : exported.stamp) graph.metadata[key] = value;
    outcome.certificate = WriteCertificate(recorder.Finish(graph, settings));
  }
  settings.options = exported.options;
  Findings findings = FindingsOf(std::move(quantized), exported, std::move(compared));
  findings.search = std::move(candidates);
  findings.equalize_trial = trial;
  if (findings.shares) {
    OCTAVO_TRY(findings.advice,
               Advise(job, *findings.shares, WorstSqnr(findings.numerics->outputs)));
  }
  findings.command = CommandOf(request);
  findings.given_options = GivenOptions(request);
  findings.files_read = FilesOf(exported.inputs);
  findings.files_written = FilesOf(outcome, request.options.output_name);
  if (findings.numerics) outcome.message = FailedGate(settings.options, findings.numerics->outputs);
  outcome.gate_failed = !outcome.message.empty();
  outcome.report_json = ReportJson(settings.options, settings, findings);
  outcome.facts = FactsOf(findings);
  return outcome;
}

}  // namespace

Result<Outcome> Run(const Request& request, const StopToken& stop, const Observer& observer) {
  try {
    return RunStages(request, stop, observer);
  } catch (const std::bad_alloc&) {
    return Fail(Code::kTooLarge, "not enough memory for this job");
  } catch (const std::exception& error) {
    return Fail(Code::kInternal, "{}", error.what());
  }
}

}  // namespace octavo::job

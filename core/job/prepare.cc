// SPDX-License-Identifier: Apache-2.0
#include "core/job/prepare.h"

#include <algorithm>

#include "core/job/gates.h"
#include "core/job/job_warnings.h"
#include "core/job/memory_estimate.h"
#include "core/job/opaque.h"
#include "core/job/search.h"
#include "core/job/settings.h"
#include "core/job/stages.h"
#include "core/job/survey.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

// To be called before the pass is added to the records.
void AddSnapshot(const std::string& pass, const ir::Graph& graph, Rewriting& rewriting) {
  const text::PrintOptions print{
      .payload = [&](const std::string& digest, const ir::Tensor& tensor) {
        if (!rewriting.snapshot_data.insert(digest).second) return;
        rewriting.snapshots.push_back({"data/" + digest, tensor.ToBlob()});
      }};
  rewriting.snapshots.push_back({fmt::format("{:02}-{}.graph", rewriting.records.size() + 1, pass),
                                 Blob(text::Print(graph, print))});
}

Names NamesOf(const ir::Graph& graph) {
  Names names;
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased) names.insert(value.name);
  }
  return names;
}

Status CheckGates(const Request& request) {
  std::vector<std::string> names;
  for (const NamedBlob& blob : request.samples) names.push_back(blob.name);
  return CheckGateSamples(request.options, names);
}

// A trial has moments of its own.
int64_t MomentSets(const JobContext& job, const ir::Graph& graph) {
  if (!Quantizes(job.options(), graph) || !CollectsMoments(job.request, job.options())) return 0;
  return job.options().equalize == Equalize::kAuto ? 2 : 1;
}

// Batches whose float outputs a trial keeps.
int64_t OutputsHeld(const Options& options) {
  return options.search || options.equalize == Equalize::kAuto ? kMostScored : 0;
}

// Refuses a job that needs more memory than it may use; else reports the end of the stage.
Status EndImport(const JobContext& job, const Imported& imported) {
  const Request& request = job.request;
  const ir::Graph& graph = imported.rewriting.graph;
  const bool has_samples = !imported.samples.evaluation.batches.empty();
  const MemoryEstimate estimate = EstimateMemory(
      graph, {.runs = has_samples || request.profile.has_value(),
              .quantizes = Quantizes(job.options(), graph),
              .keeps_floats = !job.options().keep_float.empty(),
              // Samples are read or drawn one batch at a time.
              .batches_held = 1,
              .fold_budget = job.options().fold_budget,
              .moment_sets = has_samples ? MomentSets(job, graph) : 0,
              .wide = !job.options().int16.empty() || job.options().accuracy_budget > 0 ||
                      job.options().advise,
              .equalizes = CollectsChannels(job.options()),
              .holds_floats = job.options().accuracy_budget > 0 || job.options().advise,
              .outputs_held = OutputsHeld(job.options()),
              .target = job.settings.target});
  OCTAVO_CHECK(CheckMemory(graph, estimate, request.limits.memory_bytes));
  if (job.observer) {
    job.observer({.stage = "import", .done = 1, .total = 1, .memory_bytes = estimate.total});
  }
  return {};
}

}  // namespace

void RecordPass(const JobContext& job, std::string_view stage, const passes::PassRecord& record,
                Rewriting& rewriting) {
  if (job.options().snapshots) AddSnapshot(record.name, rewriting.graph, rewriting);
  rewriting.records.push_back(record);
  if (job.certificate != nullptr) {
    job.certificate->Add(rewriting.graph, rewriting.findings.ledger);
  }
  const auto total = static_cast<int64_t>(passes::AllPasses().size());
  const auto done = static_cast<int64_t>(rewriting.records.size());
  job.Report(stage, std::min(done, total), total, record.name);
}

Status RunPhases(const JobContext& job, std::string_view stage,
                 std::initializer_list<passes::Phase> phases, Rewriting& rewriting) {
  if (rewriting.stopped) return {};
  const std::vector<const passes::Pass*> part = passes::PassesOf(phases);
  passes::RunOptions run = RunOptionsOf(job.options());
  run.after_pass = [&](const passes::PassRecord& record, const ir::Graph&) {
    RecordPass(job, stage, record, rewriting);
  };
  OCTAVO_TRY([[maybe_unused]] const auto records,
             passes::RunPipeline(part, run, job.settings, rewriting.graph, rewriting.findings));
  rewriting.stopped = std::ranges::any_of(
      part, [&](const passes::Pass* pass) { return pass->name == job.options().stop_before; });
  return {};
}

LoadRequest LoadRequestOf(const JobContext& job) {
  const Request& request = job.request;
  const Options& options = job.options();
  return {.model = request.model,
          .external_data = request.external_data,
          .samples = request.samples,
          .shape = options.shape,
          .batch = options.batch,
          .target = &job.settings.target,
          .limits = request.limits,
          .unsupported = options.strict_ops ? LoadRequest::Unsupported::kRefuse
                                            : LoadRequest::Unsupported::kLeave,
          .reading = {.image = options.image, .cast = options.cast, .samples = options.samples},
          .stop = job.settings.stop,
          .non_finite = options.allow_non_finite ? NonFinite::kCount : NonFinite::kRefuse};
}

Result<Imported> ImportModel(const JobContext& job) {
  const Request& request = job.request;
  const Options& options = job.options();
  job.Report("import", 0, 1);
  OCTAVO_CHECK(job.settings.stop.Check());
  OCTAVO_CHECK(CheckGates(request));
  LoadRequest load = LoadRequestOf(job);
  Imported imported;
  Loaded& loaded = imported.loaded;
  Rewriting& rewriting = imported.rewriting;
  OCTAVO_TRY(loaded, ReadModel(load));
  rewriting.graph = std::move(loaded.model.graph);
  imported.names = NamesOf(rewriting.graph);
  rewriting.contract = loaded.model.contract;
  OCTAVO_CHECK(CheckOpaque(job, rewriting.contract, rewriting.graph));
  rewriting.float_names = FindFloatNames(NamesInGraph(options.keep_float, rewriting.contract),
                                         rewriting.graph, loaded.model.ops);
  if (job.certificate != nullptr) job.certificate->Begin(rewriting.graph);
  rewriting.findings.warnings = std::move(loaded.model.warnings);
  rewriting.interface = {loaded.model.inputs, loaded.model.outputs};
  OCTAVO_CHECK(RunPhases(job, "import", {passes::Phase::kImport}, rewriting));
  const bool calibrates = !request.profile && Quantizes(options, rewriting.graph);
  load.several_sizes = calibrates;
  OCTAVO_CHECK(TakeSamples(load, rewriting.graph, loaded));
  if (calibrates && loaded.samples.batches.empty()) {
    return Fail(Code::kUsage, "a float model needs --data or --profile to be quantized")
        .Field("data");
  }
  OCTAVO_TRY(imported.samples, PartSamples(options, calibrates, loaded));
  if (imported.samples.evaluation.batches.empty() && HasGate(options)) {
    return Fail(Code::kUsage, "--require-sqnr and --require-cosine need --data or --evaluate")
        .Field(options.require_sqnr > 0 ? "require_sqnr" : "require_cosine");
  }
  if (imported.samples.evaluation.batches.empty() && options.accuracy_budget > 0) {
    return Fail(Code::kUsage, "--accuracy-budget needs --data or --evaluate")
        .Field("accuracy_budget");
  }
  if (imported.samples.evaluation.batches.empty() && options.advise) {
    return Fail(Code::kUsage, "--advise needs --data or --evaluate").Field("advise");
  }
  OCTAVO_CHECK(EndImport(job, imported));
  return imported;
}

Result<Prepared> Prepare(const JobContext& job, Imported imported) {
  job.Report("prepare", 0, 1);
  Loaded& loaded = imported.loaded;
  Prepared prepared;
  prepared.rewriting = std::move(imported.rewriting);
  Rewriting& rewriting = prepared.rewriting;
  prepared.model = {
      .nodes = loaded.model.nodes, .ops = loaded.model.ops, .bytes = loaded.model.bytes};
  prepared.samples = std::move(imported.samples);
  prepared.other_sizes = std::move(loaded.other_sizes);
  prepared.digest = loaded.digest;
  prepared.model_names = std::move(imported.names);
  prepared.quantized_model = HasQuantizedValues(rewriting.graph);
  prepared.rescales = CountRescales(rewriting.graph);
  if (job.request.profile) prepared.names.emplace(rewriting.graph);
  OCTAVO_CHECK(RunPhases(job, "prepare", {passes::Phase::kPrepare}, rewriting));
  return prepared;
}

Status PrepareFloat(ir::Graph& graph, ThreadPool& pool, const StopToken& stop) {
  OCTAVO_CHECK(PrepareFloat(graph, passes::Settings().limit, pool, stop));
  return {};
}

Result<bool> PrepareFloat(ir::Graph& graph, passes::Effect limit, ThreadPool& pool,
                          const StopToken& stop) {
  passes::Settings settings{.limit = limit, .pool = &pool, .stop = stop};
  OCTAVO_TRY(settings.target, target::BuiltIn("cpu-int8"));
  passes::Findings findings;
  OCTAVO_CHECK(passes::RunPipeline(passes::PassesOf({passes::Phase::kPrepare}), {}, settings, graph,
                                   findings));
  return std::ranges::any_of(findings.ledger, [](const passes::LedgerEntry& entry) {
    return entry.effect > passes::Effect::kExact;
  });
}

}  // namespace octavo::job

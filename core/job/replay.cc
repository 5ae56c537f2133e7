// SPDX-License-Identifier: Apache-2.0
#include "core/job/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "core/job/calibration_run.h"
#include "core/job/equalize_trial.h"
#include "core/job/settings.h"
#include "core/job/settle.h"
#include "core/job/stages.h"
#include "core/options/option_table.h"

namespace octavo::job {
namespace {

using ir::Graph;
using passes::Effect;
using passes::LedgerEntry;

// Whether the pass belongs to Phase::kFinish, which is applied to every visited graph.
bool EndsEveryGraph(std::string_view pass) {
  return passes::FindPass(pass)->phase == passes::Phase::kFinish;
}

// Groups applications into runs and reports each run with the graph after it.
class RunCollector {
 public:
  using Finish = std::function<Status(const RuleRun& run, const Graph& graph)>;
  RunCollector(Granularity granularity, Finish finish)
      : granularity_(granularity), finish_(std::move(finish)) {}

  // Ignores the ledger's existing entries.
  void Begin(const passes::Findings& findings) { seen_ = findings.ledger.size(); }

  void Look(const Graph& graph, const passes::Findings& findings) {
    if (!status_ || findings.ledger.size() == seen_) return;
    const std::span<const LedgerEntry> fresh = std::span(findings.ledger).subspan(seen_);
    seen_ = findings.ledger.size();
    RuleRun run{.entries = {fresh.begin(), fresh.end()},
                .measured = !EndsEveryGraph(fresh.front().pass)};
    if (open_ && Joins(run)) {
      open_->entries.insert(open_->entries.end(), run.entries.begin(), run.entries.end());
    } else {
      Close();
      open_ = std::move(run);
    }
    if (open_->measured) graph_ = graph;
  }

  Status End() {
    Close();
    return status_;
  }

 private:
  bool Joins(const RuleRun& run) const {
    if (open_->measured != run.measured) return false;
    if (!run.measured) return open_->entries.front().pass == run.entries.front().pass;
    if (granularity_ == Granularity::kApplication || open_->effect() != run.effect()) return false;
    return run.effect() == Effect::kExact || Rules(*open_) == Rules(run);
  }
  static std::set<std::pair<std::string, std::string>> Rules(const RuleRun& run) {
    std::set<std::pair<std::string, std::string>> rules;
    for (const LedgerEntry& entry : run.entries) rules.emplace(entry.pass, entry.rule);
    return rules;
  }
  void Close() {
    if (open_ && status_) status_ = finish_(*open_, graph_);
    open_.reset();
  }

  Granularity granularity_;
  Finish finish_;
  size_t seen_ = 0;
  std::optional<RuleRun> open_ = {};
  Graph graph_ = {};
  Status status_ = {};
};

// Runs the passes of Phase::kFinish on a copy.
Result<Graph> Finished(Graph graph, passes::Settings settings) {
  settings.checkpoint = {};
  passes::Findings findings;
  OCTAVO_TRY(const auto records, passes::RunPipeline(passes::PassesOf({passes::Phase::kFinish}), {},
                                                     settings, graph, findings));
  return graph;
}

Request RequestOfJob(const ReplayRequest& replay) {
  Options options = replay.options;
  options.allow_non_finite |= replay.model.allow_non_finite;
  // The job that is run again has passed its gates, or has failed them.
  options.require_sqnr = options.require_cosine = 0;
  options.search = false;  // the report's options have what it found
  return {.options = std::move(options),
          .model = replay.model.model,
          .external_data = replay.model.external_data,
          .profile = replay.profile,
          .samples = replay.model.samples,
          .target = replay.target,
          .limits = replay.model.limits};
}

// Returns the settings of the job.  kUsage if its target is unavailable.
Result<passes::Settings> SettingsOfJob(const Request& request) {
  if (!request.target && !target::BuiltIn(request.options.target)) {
    return Fail(Code::kUsage,
                "the job's target '{}' is not a built-in one: name its file with --target",
                request.options.target)
        .Field("target");
  }
  return SettingsOf(request);
}

}  // namespace

Result<Options> OptionsOfReport(std::string_view report_json) {
  const auto wrong = [](std::string_view why) {
    return Fail(Code::kInvalidArgument, "not the report of a job: {}", why).Field("options_from");
  };
  const auto report = nlohmann::json::parse(report_json, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return wrong("it is not a JSON object");
  const auto options = report.find("options");
  if (options == report.end() || !options->is_object()) return wrong("it has no 'options'");
  auto read = OptionsFromJson(*options);
  if (!read) return wrong(read.error().message);
  return *std::move(read);
}

passes::Effect RuleRun::effect() const {
  Effect effect = Effect::kExact;
  for (const LedgerEntry& entry : entries) effect = std::max(effect, entry.effect);
  return effect;
}

Status Replay(const ReplayRequest& request, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit) {
  using passes::Phase;
  const Request job_request = RequestOfJob(request);
  Replayed replayed;
  OCTAVO_TRY(replayed.settings, SettingsOfJob(job_request));
  passes::Settings& settings = replayed.settings;
  settings.pool = &pool;
  settings.stop = stop;
  const Observer no_observer;
  const JobContext job{job_request, settings, no_observer};
  OCTAVO_TRY(Imported imported, ImportModel(job));
  OCTAVO_TRY(Prepared prepared, Prepare(job, std::move(imported)));
  OCTAVO_TRY(Profiled profiled, Calibrate(job, std::move(prepared), Reuse::kNothing));
  OCTAVO_CHECK(SettleEqualize(job, profiled, settings.options));
  if (profiled.profile) settings.profile = &*profiled.profile;
  settings.moments = profiled.moments.get();
  Rewriting rewriting = std::move(profiled.prepared.rewriting);
  settings.options.keep_float = NodesToKeepFloat(rewriting.float_names, rewriting.graph);
  const Graph& graph = rewriting.graph;
  const passes::Findings& findings = rewriting.findings;
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kLower}, rewriting));
  OCTAVO_CHECK(EqualizeChannels(job, profiled.prepared.samples.calibration, rewriting,
                                profiled.profile, profiled.moments));
  settings.moments = profiled.moments.get();
  replayed.float_graph = graph;
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kQuantize}, rewriting));

  const auto hand_out = [&](const RuleRun& applied, const Graph& left) -> Status {
    if (!applied.measured) return visit(replayed, applied, left);
    OCTAVO_TRY(const Graph finished, Finished(left, settings));
    return visit(replayed, applied, finished);
  };
  OCTAVO_CHECK(hand_out({}, graph));
  RunCollector collector(request.granularity, hand_out);
  collector.Begin(findings);
  settings.checkpoint = [&](const Graph& left) { collector.Look(left, findings); };
  const size_t optimize_passes = rewriting.records.size();
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kOptimize}, rewriting));
  OCTAVO_CHECK(Settle(job, optimize_passes, rewriting));
  OCTAVO_CHECK(RunPhases(job, "passes", {Phase::kRound, Phase::kFinish}, rewriting));
  return collector.End();
}

}  // namespace octavo::job

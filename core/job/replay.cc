#include "core/job/replay.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "core/profile/name_match.h"

namespace octavo::job {
namespace {

using ir::Graph;
using passes::Effect;
using passes::LedgerEntry;

constexpr std::string_view kFirstIntegerPass = "quantize";
constexpr std::string_view kFirstRewrite = "move-quantize";

const passes::Pass* const kEveryEnd[] = {&passes::kSpecializeBiasPass,
                                         &passes::kMergeConstantsPass};

bool EndsEveryGraph(std::string_view pass) {
  return std::any_of(std::begin(kEveryEnd), std::end(kEveryEnd),
                     [&](const passes::Pass* each) { return each->name == pass; });
}

// Collects applications into runs and hands each out with the graph as it left it.
class RunCollector {
 public:
  using Finish = std::function<Status(const RuleRun& run, const Graph& graph)>;
  RunCollector(Granularity granularity, Finish finish)
      : granularity_(granularity), finish_(std::move(finish)) {}

  // What stands in the ledger so far is not looked at.
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

// The passes that end every job, on a copy.
Result<Graph> Finished(Graph graph, passes::Settings settings) {
  settings.checkpoint = {};
  passes::Findings findings;
  OCTAVO_TRY(const auto records, passes::RunPipeline(kEveryEnd, {}, settings, graph, findings));
  return graph;
}

// The job's profile, as the job comes by it; none where nothing is to be quantized.
Result<std::optional<profile::Profile>> ProfileOf(const Graph& graph, const ReplayRequest& request,
                                                  const std::optional<profile::NameIndex>& names,
                                                  const data::Samples& samples, ThreadPool& pool,
                                                  const StopToken& stop) {
  if (request.profile) {
    OCTAVO_TRY(profile::Profile profile, profile::Parse(request.profile->bytes.text()));
    if (profile.glow_names) profile = names->Match(profile).profile;
    return profile;
  }
  if (request.options.no_quantize || HasQuantizedValues(graph) || !ComputesReals(graph)) {
    return std::nullopt;
  }
  OCTAVO_TRY(profile::Profile profile,
             profile::Collect(graph, samples.batches, {.samples = samples.count}, pool, stop));
  return profile;
}

// The settings of the job; its target must be there.
Result<passes::Settings> SettingsOfJob(const ReplayRequest& replay) {
  Request request;
  request.options = replay.options;
  request.target = replay.target;
  if (!replay.target && !target::BuiltIn(replay.options.target)) {
    return Fail(Code::kUsage,
                "the job's target '{}' is not a built-in one: name its file with "
                "--target",
                replay.options.target)
        .Field("target");
  }
  return SettingsOf(request);
}

template <class T>
void Read(const nlohmann::json& json, const char* key, T& field) {
  if (const auto at = json.find(key); at != json.end()) field = at->template get<T>();
}

}  // namespace

Result<Options> OptionsOfReport(std::string_view report_json) {
  Options options;
  try {
    const nlohmann::json json = nlohmann::json::parse(report_json).at("options");
    Read(json, "target", options.target);
    Read(json, "schema", options.schema);
    Read(json, "activations", options.activations);
    Read(json, "weights", options.weights);
    Read(json, "granularity", options.granularity);
    Read(json, "calibration", options.calibration);
    Read(json, "keep_float", options.keep_float);
    Read(json, "weights_only", options.weights_only);
    Read(json, "numerics", options.numerics);
    Read(json, "numerics_limit", options.numerics_limit);
    Read(json, "no_quantize", options.no_quantize);
    Read(json, "stop_before", options.stop_before);
    Read(json, "skip", options.skip);
    Read(json, "passes", options.passes);
    Read(json, "integer_io", options.integer_io);
    Read(json, "sink_quantize", options.sink_quantize);
    Read(json, "leave_integers", options.leave_integers);
    Read(json, "own_parameters", options.own_parameters);
    Read(json, "fold_budget", options.fold_budget);
    Read(json, "shape", options.shape);
    Read(json, "batch", options.batch);
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kInvalidArgument, "not the report of a job: {}", error.what())
        .Field("options_from");
  }
  return options;
}

passes::Effect RuleRun::effect() const {
  Effect effect = Effect::kExact;
  for (const LedgerEntry& entry : entries) effect = std::max(effect, entry.effect);
  return effect;
}

Status Replay(const ReplayRequest& request, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit) {
  const Options& options = request.options;
  Replayed replayed;
  OCTAVO_TRY(replayed.settings, SettingsOfJob(request));
  passes::Settings& settings = replayed.settings;
  settings.pool = &pool;
  settings.stop = stop;
  OCTAVO_TRY(Loaded loaded, Load({.model = request.model.model,
                                  .external_data = request.model.external_data,
                                  .samples = request.model.samples,
                                  .shape = options.shape,
                                  .batch = options.batch,
                                  .target = &settings.target,
                                  .limits = request.model.limits}));
  Graph& graph = loaded.model.graph;
  std::optional<profile::NameIndex> names;
  if (request.profile) names.emplace(graph);
  const passes::RunOptions run{
      .stop_before = options.stop_before, .skip = options.skip, .only = options.passes};
  passes::Findings findings;
  bool stopped = false;
  const auto pass_through = [&](std::string_view first, std::string_view end) -> Status {
    if (stopped) return {};
    const auto part = PassesBetween(first, end);
    OCTAVO_TRY(const auto records, passes::RunPipeline(part, run, settings, graph, findings));
    for (const passes::Pass* pass : part) stopped |= pass->name == options.stop_before;
    return {};
  };
  OCTAVO_CHECK(pass_through({}, kFirstTargetPass));
  OCTAVO_TRY(const std::optional<profile::Profile> profile,
             ProfileOf(graph, request, names, loaded.samples, pool, stop));
  if (profile) settings.profile = &*profile;
  OCTAVO_CHECK(pass_through(kFirstTargetPass, kFirstIntegerPass));
  replayed.float_graph = graph;
  OCTAVO_CHECK(pass_through(kFirstIntegerPass, kFirstRewrite));

  const auto hand_out = [&](const RuleRun& applied, const Graph& left) -> Status {
    if (!applied.measured) return visit(replayed, applied, left);
    OCTAVO_TRY(const Graph finished, Finished(left, settings));
    return visit(replayed, applied, finished);
  };
  OCTAVO_CHECK(hand_out({}, graph));
  RunCollector collector(request.granularity, hand_out);
  collector.Begin(findings);
  settings.checkpoint = [&](const Graph& left) { collector.Look(left, findings); };
  OCTAVO_CHECK(pass_through(kFirstRewrite, {}));
  return collector.End();
}

}  // namespace octavo::job

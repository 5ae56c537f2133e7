#include "core/job/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/settings.h"
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

// Collects applications into runs and hands each out with the graph as it left it.
class RunCollector {
 public:
  using Finish = std::function<Status(const RuleRun& run, const Graph& graph)>;
  explicit RunCollector(Finish finish) : finish_(std::move(finish)) {}

  // What stands in the ledger so far is not looked at.
  void Begin(const passes::Findings& findings) { seen_ = findings.ledger.size(); }

  void Look(const Graph& graph, const passes::Findings& findings) {
    if (!status_ || findings.ledger.size() == seen_) return;
    RuleRun run;
    for (; seen_ < findings.ledger.size(); ++seen_) Add(findings.ledger[seen_], run);
    const bool joins =
        open_ && (open_->effect == run.effect) &&
        (run.effect == Effect::kExact || (open_->pass == run.pass && open_->rules == run.rules));
    if (!joins) Close();
    if (!open_) open_ = RuleRun{.pass = run.pass, .effect = run.effect};
    for (const std::string& rule : run.rules) AddName(rule, open_->rules);
    if (open_->pass != run.pass) open_->pass.clear();  // several passes, all exact
    open_->applications += run.applications;
    graph_ = graph;
  }

  Status End() {
    Close();
    return status_;
  }

 private:
  static void AddName(const std::string& name, std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  static void Add(const LedgerEntry& entry, RuleRun& run) {
    run.pass = entry.pass;
    AddName(entry.rule, run.rules);
    run.effect = std::max(run.effect, entry.effect);
    ++run.applications;
  }
  void Close() {
    if (open_ && status_) status_ = finish_(*open_, graph_);
    open_.reset();
  }

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
  const passes::Pass* const last[] = {&passes::kSpecializeBiasPass, &passes::kMergeConstantsPass};
  OCTAVO_TRY(const auto records, passes::RunPipeline(last, {}, settings, graph, findings));
  return graph;
}

Result<profile::Profile> ProfileOf(const Graph& graph, const std::optional<NamedBlob>& given,
                                   const std::optional<profile::NameIndex>& names,
                                   const data::Samples& samples, ThreadPool& pool,
                                   const StopToken& stop) {
  if (!given) {
    return profile::Collect(graph, samples.batches, {.samples = samples.count}, pool, stop);
  }
  OCTAVO_TRY(profile::Profile profile, profile::Parse(given->bytes.text()));
  if (profile.glow_names) return names->Match(profile).profile;
  return profile;
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
    Read(json, "numerics", options.numerics);
    Read(json, "numerics_limit", options.numerics_limit);
    Read(json, "no_quantize", options.no_quantize);
    Read(json, "stop_before", options.stop_before);
    Read(json, "skip", options.skip);
    Read(json, "passes", options.passes);
    Read(json, "integer_io", options.integer_io);
    Read(json, "sink_quantize", options.sink_quantize);
    Read(json, "leave_integers", options.leave_integers);
    Read(json, "fold_budget", options.fold_budget);
    Read(json, "shape", options.shape);
    Read(json, "batch", options.batch);
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kInvalidArgument, "not the report of a job: {}", error.what())
        .Field("options_from");
  }
  return options;
}

Status Replay(const ModelInput& model, const Options& options,
              const std::optional<NamedBlob>& given, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit) {
  if (options.no_quantize) {
    return Fail(Code::kUsage, "a job with --no-quantize has no float model to begin with")
        .Field("by_rule");
  }
  Request request;
  request.options = options;
  Replayed replayed;
  OCTAVO_TRY(replayed.settings, SettingsOf(request));
  passes::Settings& settings = replayed.settings;
  settings.pool = &pool;
  settings.stop = stop;
  OCTAVO_TRY(Loaded loaded, Load({.model = model.model,
                                  .external_data = model.external_data,
                                  .samples = model.samples,
                                  .shape = options.shape,
                                  .batch = options.batch,
                                  .target = &settings.target}));
  Graph& graph = loaded.model.graph;
  std::optional<profile::NameIndex> names;
  if (given) names.emplace(graph);
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
  OCTAVO_TRY(const profile::Profile profile,
             ProfileOf(graph, given, names, loaded.samples, pool, stop));
  settings.profile = &profile;
  OCTAVO_CHECK(pass_through(kFirstTargetPass, kFirstIntegerPass));
  replayed.float_graph = graph;
  OCTAVO_CHECK(pass_through(kFirstIntegerPass, kFirstRewrite));

  const auto hand_out = [&](const RuleRun& applied, const Graph& left) -> Status {
    OCTAVO_TRY(const Graph finished, Finished(left, settings));
    return visit(replayed, applied, finished);
  };
  OCTAVO_CHECK(hand_out({}, graph));
  RunCollector collector(hand_out);
  collector.Begin(findings);
  settings.checkpoint = [&](const Graph& left) { collector.Look(left, findings); };
  OCTAVO_CHECK(pass_through(kFirstRewrite, {}));
  return collector.End();
}

}  // namespace octavo::job

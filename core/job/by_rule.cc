// SPDX-License-Identifier: Apache-2.0
// diff --by-rule: runs a job's passes again and adds the effect of each rewrite rule to the report.
#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/rule_effects.h"
#include "core/report/json/print.h"

namespace octavo::job {
namespace {

using ir::Graph;
using nlohmann::ordered_json;

Result<Options> OptionsOf(const ByRule& by_rule, const ModelInput& input) {
  if (by_rule.options_from) return OptionsOfReport(by_rule.options_from->bytes.text());
  Options options;
  options.shape = input.shape;
  options.batch = input.batch;
  options.numerics = input.numerics;
  return options;
}

Result<Loaded> LoadFor(const ModelInput& model, const ModelInput& input, const Options& options,
                       LoadRequest::Use use) {
  LoadRequest request = RequestOf(model, input);
  request.shape = options.shape;
  request.batch = options.batch;
  request.use = use;
  return Load(request);
}

}  // namespace

Result<RuleReport> AddByRule(const std::string& report_json, const ByRule& by_rule,
                             const ModelInput& baseline, const ModelInput& input,
                             const StopToken& stop, const Observer& observer) {
  OCTAVO_TRY(const Options options, OptionsOf(by_rule, input));
  OCTAVO_TRY(const Loaded quantized, LoadFor(input, input, options, LoadRequest::Use::kShapes));
  OCTAVO_TRY(Loaded float_model, LoadFor(baseline, input, options, LoadRequest::Use::kRun));
  ThreadPool pool(input.threads);
  OCTAVO_CHECK(PrepareFloat(float_model.model.graph, pool, stop));

  ModelInput model = by_rule.from ? *by_rule.from : baseline;
  model.samples = input.samples;
  RuleEffects effects(float_model.samples.batches, pool, stop);
  int64_t runs = 0;
  const auto visit = [&](const Replayed& replayed, const RuleRun& run,
                         const Graph& graph) -> Status {
    if (runs == 0) {
      // Without `from`, compare with the baseline of the job's report: the graph before
      // quantization.
      const Graph& compared = by_rule.from ? float_model.model.graph : replayed.float_graph;
      OCTAVO_CHECK(effects.Begin(compared, graph, replayed.settings.target.numerics));
    } else {
      OCTAVO_CHECK(effects.Add(run, graph, by_rule.granularity));
    }
    ++runs;
    if (observer) {
      std::string_view pass;
      if (!run.entries.empty()) pass = run.entries.back().pass;
      observer({.stage = "integer-run", .pass = pass, .done = runs});
    }
    return {};
  };
  const ReplayRequest request = {.model = model,
                                 .options = options,
                                 .profile = by_rule.profile,
                                 .target = by_rule.target,
                                 .granularity = by_rule.granularity};
  OCTAVO_CHECK(Replay(request, pool, stop, visit));
  OCTAVO_CHECK(effects.CheckSame(quantized.model.graph));
  ordered_json report = ordered_json::parse(report_json);
  ordered_json& rows = report["by_rule"] = ordered_json::array();
  for (const v1::RuleRun& row : effects.rows()) rows.push_back(report::ToJson(row));
  return RuleReport{.report_json = report::Dump(report), .violation = effects.violation()};
}

}  // namespace octavo::job

#include "core/job/report_json.h"

#include <algorithm>

#include "core/job/settings.h"
#include "core/report/render_json.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

ordered_json LedgerJson(const std::vector<passes::LedgerEntry>& ledger) {
  ordered_json list = ordered_json::array();
  for (const passes::LedgerEntry& entry : ledger) {
    list.push_back({{"pass", entry.pass},
                    {"rule", entry.rule},
                    {"effect", passes::Name(entry.effect)},
                    {"node", entry.node},
                    {"values", entry.values},
                    {"count", 1}});
  }
  return list;
}

ordered_json PassesJson(const std::vector<passes::PassRecord>& records, bool with_seconds) {
  ordered_json list = ordered_json::array();
  for (const passes::PassRecord& record : records) {
    ordered_json pass = {{"name", record.name}};
    if (with_seconds) pass["seconds"] = record.seconds;
    pass["changed"] = record.changed > 0;
    pass["nodes_after"] = record.nodes_after;
    list.push_back(std::move(pass));
  }
  return list;
}

ordered_json RescalesJson(const Findings& findings) {
  ordered_json kept = ordered_json::array();
  for (const passes::Kept& entry : findings.kept_rescales) {
    kept.push_back({{"node", entry.node}, {"reason", entry.reason}});
  }
  // Later passes do to a greedy placement what they do to the one made.
  const passes::PlacementFigures& placement = findings.rewrites.placement;
  const auto greedy = [](int64_t after, int64_t greedily, int64_t placed) {
    return std::max<int64_t>(0, after + greedily - placed);
  };
  const RescaleFigures &before = findings.rescales_before, &after = findings.rescales_after;
  return {{"before", before.count},
          {"after", after.count},
          {"greedy_after", greedy(after.count, placement.greedy.count, placement.after.count)},
          {"elements_before", before.elements},
          {"elements_after", after.elements},
          {"greedy_elements_after",
           greedy(after.elements, placement.greedy.elements, placement.after.elements)},
          {"kept", std::move(kept)}};
}

ordered_json NumericsJson(const Findings& findings) {
  ordered_json numerics = {{"reference", "float"},
                           {"samples", findings.samples},
                           {"samples_source", nullptr},
                           {"outputs", ordered_json::array()},
                           {"values", ordered_json::array()}};
  if (!findings.samples_source.empty()) numerics["samples_source"] = findings.samples_source;
  if (!findings.numerics) return numerics;
  for (const report::ValueReport& value : findings.numerics->outputs) {
    numerics["outputs"].push_back(report::ToJson(value));
  }
  for (const report::ValueReport& value : findings.numerics->values) {
    numerics["values"].push_back(report::ToJson(value));
  }
  return numerics;
}

ordered_json StepsJson(const report::StepCounts& counts) {
  return {{"elements", counts.elements},
          {"different", counts.different},
          {"max_steps", counts.max_steps},
          {"steps_histogram", counts.histogram}};
}

ordered_json AgainstJson(const report::ModeComparison& comparison) {
  ordered_json values = ordered_json::array();
  for (const report::ModeDifference& value : comparison.values) {
    values.push_back({{"name", value.value},
                      {"node", value.node},
                      {"op", value.op},
                      {"dtype", ir::Name(value.dtype)},
                      {"accumulated", StepsJson(value.accumulated)},
                      {"local", StepsJson(value.local)}});
  }
  return {{"numerics_mode", comparison.against}, {"values", std::move(values)}};
}

}  // namespace

std::string ReportJson(const Options& options, const passes::Settings& settings,
                       const Findings& findings) {
  ordered_json float_nodes = ordered_json::array();
  for (const passes::FloatNode& node : findings.float_nodes) {
    float_nodes.push_back({{"node", node.node}, {"op", node.op}, {"reason", node.reason}});
  }
  ordered_json warnings = ordered_json::array();
  for (const passes::Warning& warning : findings.rewrites.warnings) {
    warnings.push_back(
        {{"code", warning.code}, {"message", warning.message}, {"node", warning.node}});
  }
  ordered_json report = {
      {"octavo_version", OCTAVO_VERSION},
      {"action_digest", findings.action_digest},
      {"numerics_mode", target::Name(settings.target.numerics)},
      {"target", settings.target.name},
      {"options", OptionsJson(options, settings)},
      {"model",
       {{"nodes_before", findings.before.nodes},
        {"nodes_after", findings.after.nodes},
        {"ops_before", findings.before.ops},
        {"ops_after", findings.after.ops},
        {"bytes_before", findings.before.bytes},
        {"bytes_after", findings.after.bytes}}},
      {"profile",
       {{"matched", findings.profile.matched},
        {"unmatched_entries", findings.profile.unmatched_entries},
        {"missing_values", findings.rewrites.missing_values},
        {"from_payload", findings.rewrites.ranges_from_payload}}},
      {"rescales", RescalesJson(findings)},
      {"passes", PassesJson(findings.passes, !options.deterministic)},
      {"ledger", LedgerJson(findings.rewrites.ledger)},
      {"float_nodes", std::move(float_nodes)},
      {"numerics", NumericsJson(findings)},
      {"warnings", std::move(warnings)},
  };
  if (findings.against) report["against"] = AgainstJson(*findings.against);
  return report.dump(1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace octavo::job

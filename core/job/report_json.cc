// SPDX-License-Identifier: Apache-2.0
#include "core/job/report_json.h"

#include <algorithm>

#include "core/base/version.h"
#include "core/options/option_table.h"
#include "core/report/json/print.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {
namespace {

template <class From, class To>
void Copy(const From& from, To* to) {
  to->Assign(from.begin(), from.end());
}

void SetModel(const Findings& findings, v1::ModelSummary& model) {
  model.set_nodes_before(findings.before.nodes);
  model.set_nodes_after(findings.after.nodes);
  model.mutable_ops_before()->insert(findings.before.ops.begin(), findings.before.ops.end());
  model.mutable_ops_after()->insert(findings.after.ops.begin(), findings.after.ops.end());
  model.set_bytes_before(findings.before.bytes);
  model.set_bytes_after(findings.after.bytes);
}

void SetProfile(const Findings& findings, v1::ProfileSummary& profile) {
  profile.set_matched(findings.profile.matched);
  Copy(findings.profile.unmatched_entries, profile.mutable_unmatched_entries());
  Copy(findings.rewrites.missing_values, profile.mutable_missing_values());
  profile.set_from_payload(findings.rewrites.ranges_from_payload);
}

void SetRescales(const Findings& findings, v1::Rescales& rescales) {
  // Assumes that later passes remove as many Rescales from a greedy placement as from the chosen
  // one.
  const passes::PlacementFigures& placement = findings.rewrites.placement;
  const auto greedy = [](int64_t after, int64_t greedily, int64_t placed) {
    return std::max<int64_t>(0, after + greedily - placed);
  };
  const RescaleFigures &before = findings.rescales_before, &after = findings.rescales_after;
  rescales.set_before(before.count);
  rescales.set_after(after.count);
  rescales.set_greedy_after(greedy(after.count, placement.greedy.count, placement.after.count));
  rescales.set_elements_before(before.elements);
  rescales.set_elements_after(after.elements);
  rescales.set_greedy_elements_after(
      greedy(after.elements, placement.greedy.elements, placement.after.elements));
  for (const passes::Kept& entry : findings.kept_rescales) {
    v1::KeptRescale& kept = *rescales.add_kept();
    kept.set_node(entry.node);
    kept.set_reason(entry.reason);
  }
}

void SetPasses(const Findings& findings, bool with_seconds, v1::Report& report) {
  for (const passes::PassRecord& record : findings.passes) {
    v1::PassRun& pass = *report.add_passes();
    pass.set_name(record.name);
    if (with_seconds) pass.set_seconds(record.seconds);
    pass.set_changed(record.changed > 0);
    pass.set_nodes_after(record.nodes_after);
  }
}

void SetRewrites(const Findings& findings, v1::Report& report) {
  for (const passes::LedgerEntry& entry : findings.rewrites.ledger) {
    v1::LedgerEntry& line = *report.add_ledger();
    line = ToMessage(entry);
    line.set_count(1);
  }
  for (const passes::FloatNode& entry : findings.float_nodes) {
    v1::FloatNode& node = *report.add_float_nodes();
    node.set_node(entry.node);
    node.set_op(entry.op);
    node.set_reason(entry.reason);
  }
  for (const passes::Warning& entry : findings.rewrites.warnings) {
    v1::Warning& warning = *report.add_warnings();
    warning.set_code(std::string(entry.code.name()));
    warning.set_message(entry.message);
    warning.set_node(entry.node);
  }
}

void SetWeights(const Findings& findings, v1::Report& report) {
  for (const passes::WeightRounding& entry : findings.rewrites.weights) {
    v1::LayerWeights& layer = *report.add_weights();
    layer.set_node(entry.node);
    layer.set_op(entry.op);
    layer.set_rounding(entry.rounding);
    layer.set_reason(entry.reason);
    layer.set_elements(entry.elements);
    layer.set_changed(entry.changed);
    if (entry.objective_before) layer.set_objective_before(*entry.objective_before);
    if (entry.objective_after) layer.set_objective_after(*entry.objective_after);
    if (entry.max_bias_change) layer.set_max_bias_change(*entry.max_bias_change);
    layer.set_columns(entry.columns);
    layer.set_skipped_columns(entry.skipped_columns);
    if (!findings.shares) continue;
    const auto share = findings.shares->weights.find(entry.node);
    if (share != findings.shares->weights.end()) layer.set_error_share(share->second);
  }
}

void SetNumerics(const Findings& findings, v1::Numerics& numerics) {
  numerics.set_reference("float");
  numerics.set_samples(findings.samples);
  numerics.set_samples_source(findings.samples_source);
  numerics.set_samples_role(findings.samples_role);
  numerics.set_calibration_samples(findings.calibration_samples);
  for (const SurveyedInput& input : findings.inputs) {
    if (input.nans + input.infinities == 0) continue;
    v1::NonFiniteInput& line = *numerics.add_non_finite_inputs();
    line.set_name(input.name);
    line.set_nans(input.nans);
    line.set_infinities(input.infinities);
  }
  if (findings.shares) *numerics.mutable_error_shares() = findings.shares->totals;
  if (!findings.numerics) return;
  Copy(findings.numerics->outputs, numerics.mutable_outputs());
  Copy(findings.numerics->values, numerics.mutable_values());
  for (const report::NanInput& input : findings.numerics->nan_inputs) {
    v1::NanInput& line = *numerics.add_nan_inputs();
    line.set_node(input.node);
    line.set_value(input.value);
    line.set_count(input.count);
  }
  if (findings.numerics->accuracy) *numerics.mutable_accuracy() = *findings.numerics->accuracy;
}

}  // namespace

v1::LedgerEntry ToMessage(const passes::LedgerEntry& entry) {
  v1::LedgerEntry message;
  message.set_pass(entry.pass);
  message.set_rule(entry.rule);
  message.set_effect(std::string(passes::Name(entry.effect)));
  message.set_node(entry.node);
  Copy(entry.values, message.mutable_values());
  return message;
}

std::string ReportJson(const Options& options, const passes::Settings& settings,
                       const Findings& findings) {
  v1::Report report;
  report.set_octavo_version(std::string(Version()));
  report.set_action_digest(findings.action_digest);
  report.set_command(findings.command);
  Copy(findings.given_options, report.mutable_given_options());
  Copy(findings.files_read, report.mutable_inputs());
  Copy(findings.files_written, report.mutable_outputs());
  report.set_numerics_mode(std::string(settings.target.numerics->name));
  report.set_target(settings.target.name);
  SetModel(findings, *report.mutable_model());
  SetProfile(findings, *report.mutable_profile());
  SetRescales(findings, *report.mutable_rescales());
  SetPasses(findings, !options.deterministic, report);
  SetRewrites(findings, report);
  SetWeights(findings, report);
  SetNumerics(findings, *report.mutable_numerics());
  if (findings.budget) *report.mutable_accuracy_budget() = *findings.budget;
  Copy(findings.search, report.mutable_search());
  if (findings.equalize_trial) *report.mutable_equalize_trial() = *findings.equalize_trial;
  Copy(findings.advice, report.mutable_advice());
  if (findings.against) *report.mutable_against() = *findings.against;
  return report::PrintReport(report, OptionsJson(settings.options));
}

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
#include "core/job/summary.h"

#include "core/report/json/parse.h"

namespace octavo::job {
namespace {

// Whether the gates would find `a` worse than `b`.
bool IsWorse(const v1::ValueNumerics& a, const v1::ValueNumerics& b) {
  if (a.exact() || b.exact()) return b.exact() && !a.exact();
  if (!a.has_sqnr_db() || !b.has_sqnr_db()) return !a.has_sqnr_db() && b.has_sqnr_db();
  return a.sqnr_db() < b.sqnr_db();
}

void SetWorstOutput(const v1::Numerics& numerics, v1::Summary& summary) {
  const v1::ValueNumerics* worst = nullptr;
  for (const v1::ValueNumerics& output : numerics.outputs()) {
    if (worst == nullptr || IsWorse(output, *worst)) worst = &output;
  }
  if (worst == nullptr) return;
  v1::WorstOutput& figures = *summary.mutable_worst_output();
  figures.set_name(worst->name());
  figures.set_exact(worst->exact());
  if (worst->has_sqnr_db()) figures.set_sqnr_db(worst->sqnr_db());
  if (worst->has_classes() && worst->has_top1_agreement()) {
    figures.set_top1_agreement(worst->top1_agreement());
  }
  if (worst->has_calibration_sqnr_db()) {
    figures.set_calibration_sqnr_db(worst->calibration_sqnr_db());
  }
}

}  // namespace

Result<v1::Summary> SummaryOf(std::string_view report_json) {
  OCTAVO_TRY(const v1::Report report,
             report::ParseReport(report_json, report::UnknownKeys::kIgnore));
  v1::Summary summary;
  summary.set_action_digest(report.action_digest());
  summary.set_target(report.target());
  summary.set_numerics_mode(report.numerics_mode());
  summary.set_bytes_before(report.model().bytes_before());
  summary.set_bytes_after(report.model().bytes_after());
  summary.set_nodes_before(report.model().nodes_before());
  summary.set_nodes_after(report.model().nodes_after());
  for (const v1::FloatNode& node : report.float_nodes()) {
    ++(*summary.mutable_float_ops())[node.op()];
  }
  summary.set_rescales(report.rescales().after());
  summary.set_samples(report.numerics().samples());
  if (!report.numerics().samples_source().empty()) {
    summary.set_samples_source(report.numerics().samples_source());
  }
  if (!report.numerics().samples_role().empty()) {
    summary.set_samples_role(report.numerics().samples_role());
  }
  summary.set_calibration_samples(report.numerics().calibration_samples());
  SetWorstOutput(report.numerics(), summary);
  if (report.numerics().has_accuracy()) {
    *summary.mutable_accuracy() = report.numerics().accuracy();
  }
  for (const v1::SearchCandidate& candidate : report.search()) {
    if (candidate.chosen()) *summary.mutable_search() = candidate;
  }
  *summary.mutable_warnings() = report.warnings();
  *summary.mutable_passes() = report.passes();
  return summary;
}

}  // namespace octavo::job

// SPDX-License-Identifier: Apache-2.0
// The sections for the job's settings and steps: operators, passes, profile, options.
#include <map>

#include "core/report/html/sections.h"
#include "core/report/json/print.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

std::string Names(std::string_view caption, const Texts& list) {
  if (list.empty()) return {};
  return fmt::format("<details><summary>{} ({})</summary>{}</details>\n", caption, list.size(),
                     CodeList(list));
}

std::string OptionText(const google::protobuf::Value& value) {
  if (value.has_null_value()) return {};
  if (value.has_string_value()) return value.string_value();
  return ToJson(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string Operators(const v1::Report& report) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const auto& [op, count] : report.model().ops_before()) counts[op].first = count;
  for (const auto& [op, count] : report.model().ops_after()) counts[op].second = count;
  if (counts.empty()) return {};
  std::string html =
      "<h2>Operators</h2>\n<table><thead><tr><th scope=\"col\">Operator</th><th scope=\"col\" "
      "class=\"number\">Before</th><th scope=\"col\" class=\"number\">After</th></tr></thead>"
      "<tbody>\n";
  for (const auto& [op, count] : counts) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "</tr>\n",
        Escape(op), count.first == 0 ? kDash : Count(count.first),
        count.second == 0 ? kDash : Count(count.second));
  }
  return html + "</tbody></table>";
}

std::string Passes(const v1::Report& report) {
  if (report.passes().empty()) return {};
  std::string html =
      "<h2>Passes</h2>\n<table><thead><tr><th scope=\"col\">Pass</th><th scope=\"col\">Changed</th>"
      "<th scope=\"col\" class=\"number\">Nodes after</th><th scope=\"col\" class=\"number\">"
      "Seconds</th></tr></thead><tbody>\n";
  for (const v1::PassRun& pass : report.passes()) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        Escape(pass.name()), pass.changed() ? "yes" : "<span class=\"quiet\">no</span>",
        Count(pass.nodes_after()),
        pass.has_seconds() ? fmt::format("{:.4f}", pass.seconds()) : kDash);
  }
  return html + "</tbody></table>";
}

std::string Profile(const v1::Report& report) {
  if (!report.has_profile()) return {};
  const v1::ProfileSummary& profile = report.profile();
  std::string html = "<h2>Profile</h2>\n<dl class=\"figures\">";
  html += Term("Matched entries", Count(profile.matched()));
  html += Term("Ranges from constants", Count(profile.from_payload()));
  html += "</dl>\n";
  html += Names("Entries that match no value of the model", profile.unmatched_entries());
  html += Names("Values without an entry: they stay float", profile.missing_values());
  return html;
}

std::string Equalization(const v1::Report& report) {
  if (!report.has_equalize_trial()) return {};
  const v1::EqualizeTrial& trial = report.equalize_trial();
  return fmt::format(
      "<h2>Equalization</h2>\n<p class=\"lead\">Half of the calibration samples calibrated a "
      "trial, "
      "and others gave its score, the mean SQNR of the outputs: {} with channels as they are, {} "
      "with equalized channels. The job {}.</p>\n",
      Decibel(trial.score_db()), Decibel(trial.equalized_score_db()),
      trial.chosen() ? "equalized them" : "left them as they are");
}

std::string Search(const v1::Report& report) {
  if (report.search().empty()) return {};
  std::string html =
      "<h2>Search</h2>\n<p class=\"lead\">Half of the calibration samples calibrated each "
      "candidate, and others gave its score: the mean SQNR of the outputs.</p>\n"
      "<table><thead><tr><th scope=\"col\">Calibration</th><th scope=\"col\">Rounding</th>"
      "<th scope=\"col\">Equalized</th><th scope=\"col\" class=\"number\">Score</th><th "
      "scope=\"col\">Chosen</th></tr></thead>"
      "<tbody>\n";
  for (const v1::SearchCandidate& candidate : report.search()) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td>"
        "<td>{}</td></tr>\n",
        Escape(candidate.calibration()), Escape(candidate.rounding()),
        candidate.equalize() ? "yes" : "", Decibel(candidate.score_db()),
        candidate.chosen() ? "yes" : "");
  }
  return html + "</tbody></table>";
}

std::string Options(const v1::Report& report) {
  const std::map<std::string, google::protobuf::Value> options(report.options().fields().begin(),
                                                               report.options().fields().end());
  if (options.empty()) return {};
  std::string html = "<h2>Options</h2>\n<dl class=\"figures\">";
  for (const auto& [name, value] : options) {
    const std::string text = OptionText(value);
    html += Term(Escape(name),
                 fmt::format("<code>{}</code>", text.empty() ? std::string(kDash) : Escape(text)));
  }
  return html + "</dl>";
}

}  // namespace octavo::report::html

// SPDX-License-Identifier: Apache-2.0
// The sections for rewrites with their numeric effects, remaining Rescales, and float nodes.
#include <map>
#include <tuple>
#include <vector>

#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

// The applications of one rule, in the order of the ledger.
struct Rule {
  std::string_view pass = {};
  std::string_view id = {};
  std::string_view effect = {};
  int64_t count = 0;
  std::vector<const v1::LedgerEntry*> entries = {};
};

std::vector<Rule> GroupByRule(const v1::Report& report) {
  std::vector<Rule> rules;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, size_t> places;
  for (const v1::LedgerEntry& entry : report.ledger()) {
    const std::tuple<std::string_view, std::string_view, std::string_view> key(
        entry.pass(), entry.rule(), entry.effect());
    const auto [place, is_new] = places.emplace(key, rules.size());
    if (is_new) {
      rules.push_back({.pass = entry.pass(), .id = entry.rule(), .effect = entry.effect()});
    }
    Rule& rule = rules[place->second];
    rule.count += entry.count();
    rule.entries.push_back(&entry);
  }
  return rules;
}

// The CSS class of an effect: good if results stay equal, warn if the effect may need attention,
// else quiet.
std::string_view EffectStyle(std::string_view effect) {
  if (effect == "exact" || effect == "real-exact") return "good";
  return effect == "new-parameters" ? "warn" : "quiet";
}

std::string Entry(const v1::LedgerEntry& entry) {
  std::string values;
  for (const std::string& value : entry.values()) {
    values += fmt::format("{}{}", values.empty() ? "" : " · ", Escape(value));
  }
  return fmt::format("<li><code>{}</code>{} <span class=\"quiet mono\">{}</span></li>",
                     Escape(entry.node()),
                     entry.count() > 1 ? fmt::format(" × {}", Count(entry.count())) : "", values);
}

// Names the pass that applied another pass's rule.  A rule's id begins with the pass that defines
// it.
std::string AppliedBy(const Rule& rule) {
  if (rule.id.starts_with(fmt::format("{}/", rule.pass))) return {};
  return fmt::format("applied by {}", Escape(rule.pass));
}

std::string RuleRow(const Rule& rule) {
  std::string html = fmt::format(
      "<details class=\"row rule\"><summary><span><strong>{}</strong> <span class=\"quiet\">{}"
      "</span></span><span><span class=\"badge {}\">{}</span></span><span class=\"number\">{}"
      "</span></summary><div class=\"body\"><ul class=\"plain\">",
      Escape(rule.id), AppliedBy(rule), EffectStyle(rule.effect), Escape(rule.effect),
      Count(rule.count));
  for (const v1::LedgerEntry* entry : rule.entries) html += Entry(*entry);
  return html + "</ul></div></details>\n";
}

}  // namespace

std::string Ledger(const v1::Report& report) {
  const std::vector<Rule> rules = GroupByRule(report);
  if (rules.empty()) return {};
  int64_t sum = 0;
  for (const Rule& rule : rules) sum += rule.count;
  std::string html = fmt::format(
      "<h2>Rewrites</h2>\n<p class=\"lead\">{} of {}, in the order in which the rules were first "
      "applied, each with its numeric effect: exact rewrites change no result, real-exact ones "
      "are equal but for float rounding, fewer-roundings and fewer-clamps omit an intermediate "
      "rounding or clamp, new-parameters change a scale or a zero point.</p>\n<div class=\"headrow "
      "rule\"><span>"
      "</span><span>Rule</span><span>Numeric effect</span><span class=\"number\">Applied"
      "</span></div>\n",
      Plural(sum, "application"), Plural(static_cast<int64_t>(rules.size()), "rule"));
  for (const Rule& rule : rules) html += RuleRow(rule);
  return html;
}

std::string KeptRescales(const v1::Report& report) {
  const v1::Rescales& rescales = report.rescales();
  if (rescales.kept().empty()) return {};
  std::map<std::string_view, std::vector<std::string_view>> by_reason;
  for (const v1::KeptRescale& kept : rescales.kept()) {
    by_reason[kept.reason()].push_back(kept.node());
  }
  std::string html = fmt::format(
      "<h2>Remaining Rescales</h2>\n<p class=\"lead\">A Rescale converts quantized values from one "
      "scale to another at run time. {} of {} remain, by reason; they compute {} elements "
      "instead of {}.</p>\n",
      Count(rescales.kept_size()), Plural(rescales.before(), "Rescale"),
      Count(rescales.elements_after()), Count(rescales.elements_before()));
  for (const auto& [reason, nodes] : by_reason) {
    html += fmt::format("<h3>{} <span class=\"quiet\">({})</span></h3><ul class=\"plain\">",
                        Escape(reason), nodes.size());
    for (const std::string_view node : nodes) {
      html += fmt::format("<li><code>{}</code></li>", Escape(node));
    }
    html += "</ul>\n";
  }
  return html;
}

std::string FloatNodes(const v1::Report& report) {
  if (report.float_nodes().empty()) return {};
  std::string html =
      "<h2>Float nodes</h2>\n<p class=\"lead\">Nodes that compute in float.</p>\n<div "
      "class=\"wide\"><table><thead><tr><th scope=\"col\">Node</th>"
      "<th scope=\"col\">Operator</th><th scope=\"col\">Reason</th></tr></thead><tbody>\n";
  for (const v1::FloatNode& node : report.float_nodes()) {
    html += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>\n",
                        Escape(node.node()), Escape(node.op()), Escape(node.reason()));
  }
  return html + "</tbody></table></div>";
}

}  // namespace octavo::report::html

// What was changed in the graph, what that did to the numbers, and what was left and why.
#include <map>
#include <tuple>
#include <vector>

#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

// The entries of one law, in the order of the ledger.
struct Law {
  std::string_view pass = {};
  std::string_view rule = {};
  std::string_view effect = {};
  int64_t count = 0;
  std::vector<const Json*> entries = {};
};

std::vector<Law> GroupByRule(const Json& ledger) {
  std::vector<Law> laws;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, size_t> places;
  for (const Json& entry : ledger) {
    const std::tuple key(String(Member(entry, "pass")), String(Member(entry, "rule")),
                         String(Member(entry, "effect")));
    const auto [place, is_new] = places.emplace(key, laws.size());
    if (is_new) {
      laws.push_back(
          {.pass = std::get<0>(key), .rule = std::get<1>(key), .effect = std::get<2>(key)});
    }
    Law& law = laws[place->second];
    law.count += Real(Member(entry, "count")) ? Integer(Member(entry, "count")) : 1;
    law.entries.push_back(&entry);
  }
  return laws;
}

// Equal results are good, new parameters want a look; the rest is neither.
std::string_view EffectStyle(std::string_view effect) {
  if (effect == "exact" || effect == "real-exact") return "good";
  return effect == "new-parameters" ? "warn" : "quiet";
}

std::string Entry(const Json& entry) {
  std::string values;
  for (const Json& value : List(entry, "values")) {
    values += fmt::format("{}{}", values.empty() ? "" : " · ", Escape(String(value)));
  }
  const int64_t count = Integer(Member(entry, "count"));
  return fmt::format("<li><code>{}</code>{} <span class=\"quiet mono\">{}</span></li>",
                     Escape(String(Member(entry, "node"))),
                     count > 1 ? fmt::format(" × {}", Count(count)) : "", values);
}

std::string LawRow(const Law& law) {
  std::string html = fmt::format(
      "<details class=\"row rule\"><summary><span><strong>{}</strong> <span class=\"quiet\">{}"
      "</span></span><span><span class=\"badge {}\">{}</span></span><span class=\"number\">{}"
      "</span></summary><div class=\"body\"><ul class=\"plain\">",
      Escape(law.rule), Escape(law.pass), EffectStyle(law.effect), Escape(law.effect),
      Count(law.count));
  for (const Json* entry : law.entries) html += Entry(*entry);
  return html + "</ul></div></details>\n";
}

}  // namespace

std::string Ledger(const Json& report) {
  const std::vector<Law> laws = GroupByRule(List(report, "ledger"));
  if (laws.empty()) return {};
  int64_t sum = 0;
  for (const Law& law : laws) sum += law.count;
  std::string html = fmt::format(
      "<h2>Rewrites</h2>\n<p class=\"lead\">{} of {}, in the order in which the laws were first "
      "applied, each with what it does to the numbers.</p>\n<div class=\"headrow rule\"><span>"
      "</span><span>Law and pass</span><span>Numeric effect</span><span class=\"number\">Applied"
      "</span></div>\n",
      Plural(sum, "application"), Plural(static_cast<int64_t>(laws.size()), "law"));
  for (const Law& law : laws) html += LawRow(law);
  return html;
}

std::string KeptRescales(const Json& report) {
  const Json& rescales = Member(report, "rescales");
  const Json& kept = List(rescales, "kept");
  if (kept.empty()) return {};
  std::map<std::string_view, std::vector<std::string_view>> by_reason;
  for (const Json& entry : kept) {
    by_reason[String(Member(entry, "reason"))].push_back(String(Member(entry, "node")));
  }
  std::string html = fmt::format(
      "<h2>Rescales that stay, and why</h2>\n<p class=\"lead\">{} of {}; they touch {} elements "
      "instead of {} before.</p>\n",
      Count(static_cast<int64_t>(kept.size())),
      Plural(Integer(Member(rescales, "before")), "rescale"),
      Count(Integer(Member(rescales, "elements_after"))),
      Count(Integer(Member(rescales, "elements_before"))));
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

std::string FloatNodes(const Json& report) {
  const Json& nodes = List(report, "float_nodes");
  if (nodes.empty()) return {};
  std::string html =
      "<h2>Left in float</h2>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">Node</th>"
      "<th scope=\"col\">Operator</th><th scope=\"col\">Reason</th></tr></thead><tbody>\n";
  for (const Json& node : nodes) {
    html += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>\n",
                        Escape(String(Member(node, "node"))), Escape(String(Member(node, "op"))),
                        Escape(String(Member(node, "reason"))));
  }
  return html + "</tbody></table></div>";
}

}  // namespace octavo::report::html

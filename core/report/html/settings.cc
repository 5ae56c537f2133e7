// What went in and how it was done: operators, passes, profile, options.
#include <map>

#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

std::string Names(std::string_view caption, const Json& list) {
  if (list.empty()) return {};
  return fmt::format("<details><summary>{} ({})</summary>{}</details>\n", caption, list.size(),
                     CodeList(list));
}

std::string Seconds(const Json& seconds) {
  const std::optional<double> figure = Real(seconds);
  return figure ? fmt::format("{:.4f}", *figure) : std::string(kDash);
}

std::string OptionText(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return std::string(String(value));
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string Operators(const Json& report) {
  const Json& model = Member(report, "model");
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  const Json& before = Member(model, "ops_before");
  const Json& after = Member(model, "ops_after");
  if (before.is_object()) {
    for (const auto& [op, count] : before.items()) counts[op].first = Integer(count);
  }
  if (after.is_object()) {
    for (const auto& [op, count] : after.items()) counts[op].second = Integer(count);
  }
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

std::string Passes(const Json& report) {
  const Json& passes = List(report, "passes");
  if (passes.empty()) return {};
  std::string html =
      "<h2>Passes</h2>\n<table><thead><tr><th scope=\"col\">Pass</th><th scope=\"col\">Changed</th>"
      "<th scope=\"col\" class=\"number\">Nodes after</th><th scope=\"col\" class=\"number\">"
      "Seconds</th></tr></thead><tbody>\n";
  for (const Json& pass : passes) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        Escape(String(Member(pass, "name"))),
        Member(pass, "changed") == true ? "yes" : "<span class=\"quiet\">no</span>",
        Count(Integer(Member(pass, "nodes_after"))), Seconds(Member(pass, "seconds")));
  }
  return html + "</tbody></table>";
}

std::string Profile(const Json& report) {
  const Json& profile = Member(report, "profile");
  if (!profile.is_object()) return {};
  std::string html = "<h2>Profile</h2>\n<dl class=\"figures\">";
  html += Term("Entries that matched", Count(Integer(Member(profile, "matched"))));
  html += Term("Ranges from constants", Count(Integer(Member(profile, "from_payload"))));
  html += "</dl>\n";
  html += Names("Entries that the model never had", List(profile, "unmatched_entries"));
  html += Names("Values without an entry, left in float", List(profile, "missing_values"));
  return html;
}

std::string Options(const Json& report) {
  const Json& options = Member(report, "options");
  if (!options.is_object() || options.empty()) return {};
  std::string html = "<h2>Options</h2>\n<dl class=\"figures\">";
  for (const auto& [name, value] : options.items()) {
    const std::string text = OptionText(value);
    html += Term(Escape(name),
                 fmt::format("<code>{}</code>", text.empty() ? std::string(kDash) : Escape(text)));
  }
  return html + "</dl>";
}

}  // namespace octavo::report::html

// What a reader wants to know first: was it worth it, is it right, is there anything to act upon.
#include <algorithm>
#include <cmath>

#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

std::string Card(std::string_view title, std::string_view figure, std::string_view note,
                 std::string_view css = "") {
  return fmt::format(
      "<div class=\"card\"><h2>{}</h2><div class=\"figure {}\">{}</div>"
      "<div class=\"note\">{}</div></div>\n",
      title, css, figure, note);
}

std::string SizeCard(const Json& model) {
  const int64_t before = Integer(Member(model, "bytes_before"));
  const int64_t after = Integer(Member(model, "bytes_after"));
  const std::string way = fmt::format("{} → {}", Bytes(before), Bytes(after));
  if (before <= 0 || after <= 0) return Card("Model size", kDash, way);
  const double ratio = static_cast<double>(before) / static_cast<double>(after);
  const bool is_smaller = ratio >= 1;
  return Card("Model size", fmt::format("{:.2f}×", is_smaller ? ratio : 1 / ratio),
              fmt::format("{}: {}", is_smaller ? "smaller" : "larger", way));
}

std::string NodesCard(const Json& model) {
  const int64_t before = Integer(Member(model, "nodes_before"));
  const int64_t after = Integer(Member(model, "nodes_after"));
  const std::string_view word = after <= before ? "fewer" : "more";
  return Card("Nodes", fmt::format("{} → {}", Count(before), Count(after)),
              fmt::format("{} {}", Count(std::abs(before - after)), word));
}

std::string RescalesCard(const Json& rescales) {
  const int64_t before = Integer(Member(rescales, "before"));
  const int64_t after = Integer(Member(rescales, "after"));
  std::string note = fmt::format("{} removed", Count(before - after));
  if (Real(Member(rescales, "greedy_after"))) {
    note +=
        fmt::format(", greedy would leave {}", Count(Integer(Member(rescales, "greedy_after"))));
  }
  return Card("Rescales", fmt::format("{} → {}", Count(before), Count(after)), note);
}

// 20 dB is noise of a tenth of the signal, 30 dB of a thirtieth.
std::string_view Verdict(double decibel) {
  if (decibel < 15) return "bad";
  return decibel < 25 ? "warn" : "good";
}

// The output with the least figure `key`; null if none has one.
const Json& WorstOutput(const Json& outputs, std::string_view key) {
  static const Json kNull = nullptr;
  const Json* worst = &kNull;
  for (const Json& output : outputs) {
    const std::optional<double> figure = Real(Member(output, key));
    if (figure && (worst->is_null() || *figure < *Real(Member(*worst, key)))) worst = &output;
  }
  return *worst;
}

std::string SqnrCard(const Json& outputs) {
  const Json& worst = WorstOutput(outputs, "sqnr_db");
  if (worst.is_null()) {
    const bool exact =
        !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](const Json& output) {
          return SqnrOf(output, "sqnr_db") == "exact";
        });
    return exact ? Card("Output SQNR", "exact", "no element differs", "good")
                 : Card("Output SQNR", kDash, "not defined");
  }
  const double decibel = *Real(Member(worst, "sqnr_db"));
  const std::string name = Escape(Shorten(String(Member(worst, "name")), 28));
  return Card("Output SQNR", Decibel(decibel),
              outputs.size() > 1 ? fmt::format("worst of {}: {}", outputs.size(), name) : name,
              Verdict(decibel));
}

std::string Top1Card(const Json& outputs) {
  const Json& worst = WorstOutput(outputs, "top1_agreement");
  if (worst.is_null()) return Card("Top-1 agreement", kDash, "no output ranks classes");
  return Card("Top-1 agreement", Percent(Real(Member(worst, "top1_agreement"))),
              "of the samples keep their first class");
}

}  // namespace

std::string Cards(const Json& report) {
  const Json& model = Member(report, "model");
  const Json& outputs = List(Member(report, "numerics"), "outputs");
  return SizeCard(model) + NodesCard(model) + RescalesCard(Member(report, "rescales")) +
         SqnrCard(outputs) + Top1Card(outputs);
}

std::string Warnings(const Json& report) {
  const Json& warnings = List(report, "warnings");
  if (warnings.empty()) return {};
  std::string html =
      fmt::format("<h2>{}</h2>\n<ul>", Plural(static_cast<int64_t>(warnings.size()), "warning"));
  for (const Json& warning : warnings) {
    const std::string_view node = String(Member(warning, "node"));
    html += fmt::format("<li>{}{} <span class=\"quiet mono\">{}</span></li>\n",
                        Escape(String(Member(warning, "message"))),
                        node.empty() ? "" : fmt::format(" <code>{}</code>", Escape(node)),
                        Escape(String(Member(warning, "code"))));
  }
  return html + "</ul>";
}

std::string Outputs(const Json& report) {
  const Json& outputs = List(Member(report, "numerics"), "outputs");
  if (outputs.empty()) return {};
  std::string html =
      "<h2>Outputs</h2>\n<p class=\"lead\">What the integer model returns, against the float model "
      "on the same samples.</p>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">Output"
      "</th><th scope=\"col\" class=\"number\">SQNR</th><th scope=\"col\" class=\"number\">Cosine"
      "</th><th scope=\"col\" class=\"number\">Greatest error</th><th scope=\"col\" "
      "class=\"number\">Mean error</th><th scope=\"col\" class=\"number\">Top-1 agreement</th>"
      "</tr></thead><tbody>\n";
  for (const Json& output : outputs) {
    html += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        Escape(String(Member(output, "name"))), SqnrOf(output, "sqnr_db"),
        Figure(Real(Member(output, "cosine")), 6), Figure(Real(Member(output, "max_abs")), 4),
        Figure(Real(Member(output, "mean_abs")), 4),
        Percent(Real(Member(output, "top1_agreement"))));
  }
  return html + "</tbody></table></div>";
}

}  // namespace octavo::report::html

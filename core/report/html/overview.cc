// SPDX-License-Identifier: Apache-2.0
// The first sections: size, accuracy, warnings and outputs.
#include <algorithm>
#include <cmath>

#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {

const v1::ValueNumerics* WorstOutput(const Values& outputs, FigureOf figure) {
  const v1::ValueNumerics* worst = nullptr;
  for (const v1::ValueNumerics& output : outputs) {
    if (!figure(output)) continue;
    if (worst == nullptr || *figure(output) < *figure(*worst)) worst = &output;
  }
  return worst;
}

std::string SamplesText(const v1::Numerics& numerics) {
  const std::string& role = numerics.samples_role();
  std::string kind = role.empty() ? std::string() : role + " ";
  if (numerics.samples_source() == "random") kind += "random ";
  return Plural(numerics.samples(), kind + "sample");
}

namespace {

std::string Card(std::string_view title, std::string_view figure, std::string_view note,
                 std::string_view css = "") {
  return fmt::format(
      "<div class=\"card\"><h2>{}</h2><div class=\"figure {}\">{}</div>"
      "<div class=\"note\">{}</div></div>\n",
      title, css, figure, note);
}

std::string SizeCard(const v1::ModelSummary& model) {
  const int64_t before = model.bytes_before(), after = model.bytes_after();
  const std::string way = fmt::format("{} → {}", Bytes(before), Bytes(after));
  if (before <= 0 || after <= 0) return Card("Model size", kDash, way);
  const double ratio = static_cast<double>(before) / static_cast<double>(after);
  const bool is_smaller = ratio >= 1;
  return Card("Model size", fmt::format("{:.2f}×", is_smaller ? ratio : 1 / ratio),
              fmt::format("{}: {}", is_smaller ? "smaller" : "larger", way));
}

std::string NodesCard(const v1::ModelSummary& model) {
  const int64_t before = model.nodes_before(), after = model.nodes_after();
  const std::string_view word = after <= before ? "fewer" : "more";
  return Card("Nodes", fmt::format("{} → {}", Count(before), Count(after)),
              fmt::format("{} {}", Count(std::abs(before - after)), word));
}

std::string RescalesCard(const v1::Rescales& rescales) {
  return Card(
      "Rescales", fmt::format("{} → {}", Count(rescales.before()), Count(rescales.after())),
      fmt::format("{} removed; a greedy placement would leave {}",
                  Count(rescales.before() - rescales.after()), Count(rescales.greedy_after())));
}

// At 20 dB the noise is a tenth of the signal, at 30 dB a thirtieth.
std::string_view Verdict(double decibel) {
  if (decibel < 15) return "bad";
  return decibel < 25 ? "warn" : "good";
}

std::optional<double> Top1(const v1::ValueNumerics& output) {
  return Optional(output.has_top1_agreement(), output.top1_agreement());
}

std::string SqnrCard(const v1::Numerics& numerics) {
  const Values& outputs = numerics.outputs();
  const v1::ValueNumerics* worst = WorstOutput(outputs, &Sqnr);
  if (worst == nullptr) {
    const bool exact = !outputs.empty() && std::ranges::all_of(outputs, &IsExact);
    return exact ? Card("Output SQNR", "exact", "no element differs", "good")
                 : Card("Output SQNR", kDash, "not defined");
  }
  const std::string name = Escape(Shorten(worst->name(), 28));
  std::string note =
      outputs.size() > 1 ? fmt::format("worst of {}: {}", outputs.size(), name) : name;
  note += fmt::format(", on {}", Escape(SamplesText(numerics)));
  if (worst->has_calibration_sqnr_db()) {
    note += fmt::format("; {} on calibration samples", Decibel(worst->calibration_sqnr_db()));
  }
  return Card("Output SQNR", Decibel(worst->sqnr_db()), note, Verdict(worst->sqnr_db()));
}

// With labels, how often the classifier is right; else how often both models agree.
std::string Top1Card(const v1::Numerics& numerics) {
  if (numerics.has_accuracy() && numerics.accuracy().has_top1()) {
    const v1::Accuracy& accuracy = numerics.accuracy();
    return Card("Top-1", Percent(accuracy.top1()),
                fmt::format("of {}; the float model: {}", Plural(accuracy.samples(), "label"),
                            Percent(accuracy.top1_float())));
  }
  const Values& outputs = numerics.outputs();
  const v1::ValueNumerics* worst = WorstOutput(outputs, &Top1);
  if (worst == nullptr) return Card("Top-1 agreement", kDash, "no output has class scores");
  return Card("Top-1 agreement", Percent(worst->top1_agreement()),
              "of rows have the same top class");
}

}  // namespace

std::string Cards(const v1::Report& report) {
  return SizeCard(report.model()) + NodesCard(report.model()) + RescalesCard(report.rescales()) +
         SqnrCard(report.numerics()) + Top1Card(report.numerics());
}

std::string Warnings(const v1::Report& report) {
  if (report.warnings().empty()) return {};
  std::string html = fmt::format("<h2>{}</h2>\n<ul>", Plural(report.warnings_size(), "warning"));
  for (const v1::Warning& warning : report.warnings()) {
    const std::string& node = warning.node();
    html += fmt::format(
        "<li>{}{} <span class=\"quiet mono\">{}</span></li>\n", Escape(warning.message()),
        node.empty() ? "" : fmt::format(" <code>{}</code>", Escape(node)), Escape(warning.code()));
  }
  return html + "</ul>";
}

std::string Outputs(const v1::Report& report) {
  const Values& outputs = report.numerics().outputs();
  if (outputs.empty()) return {};
  const bool both = std::ranges::any_of(outputs, &v1::ValueNumerics::has_calibration_sqnr_db);
  std::string html = fmt::format(
      "<h2>Outputs</h2>\n<p class=\"lead\">Outputs of the integer model, compared with the float "
      "model on {}.</p>\n",
      Escape(SamplesText(report.numerics())));
  html +=
      "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Output</th><th scope=\"col\" "
      "class=\"number\">SQNR</th>";
  if (both) html += "<th scope=\"col\" class=\"number\">on calibration samples</th>";
  html +=
      "<th scope=\"col\" class=\"number\">Cosine"
      "</th><th scope=\"col\" class=\"number\">Largest error</th><th scope=\"col\" "
      "class=\"number\">Mean error</th><th scope=\"col\" class=\"number\">Top-1 agreement</th>"
      "</tr></thead><tbody>\n";
  for (const v1::ValueNumerics& output : outputs) {
    html += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{}</td>",
                        Escape(output.name()), SqnrText(output));
    if (both) {
      const bool is_set = output.has_calibration_sqnr_db();
      html += fmt::format("<td class=\"number\">{}</td>",
                          Decibel(Optional(is_set, output.calibration_sqnr_db())));
    }
    html += fmt::format(
        "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        Figure(Optional(output.has_cosine(), output.cosine()), 6),
        Figure(Optional(output.has_max_abs(), output.max_abs()), 4),
        Figure(Optional(output.has_mean_abs(), output.mean_abs()), 4), Percent(Top1(output)));
  }
  return html + "</tbody></table></div>";
}

}  // namespace octavo::report::html

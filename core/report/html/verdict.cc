// SPDX-License-Identifier: Apache-2.0
// The first screen: one sentence, and what to do.
#include <algorithm>

#include "core/report/html/groups.h"
#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr int kAdviceShown = 3;

// "17.7 dB on 2 held-out samples"
std::string SqnrPart(const v1::Numerics& numerics) {
  const Values& outputs = numerics.outputs();
  if (numerics.samples() == 0 || outputs.empty()) return "No samples ran, so there are no figures";
  const std::string on = fmt::format("on {}", Escape(SamplesText(numerics)));
  if (std::ranges::all_of(outputs, &IsExact)) return "Equal to the float model " + on;
  const v1::ValueNumerics* worst = WorstOutput(outputs, &Sqnr);
  if (worst == nullptr) return "The outputs have no defined SQNR " + on;
  const std::string of = outputs.size() > 1
                             ? fmt::format(", <code>{}</code>", Escape(Shorten(worst->name(), 40)))
                             : "";
  return fmt::format("{} {}{}", Decibel(worst->sqnr_db()), on, of);
}

std::string WholePercent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// "52 % of the error is weights, 15 % MaxPool_423"
std::string SharePart(const v1::Numerics& numerics) {
  if (!numerics.has_error_shares()) return {};
  const v1::ErrorShares& shares = numerics.error_shares();
  std::string text = fmt::format("; {} of the error is weights", WholePercent(shares.weights()));
  const Values& values = numerics.values();
  for (const Group& group : GroupsOf(values)) {
    const double share = ErrorShare(values[group.front()]).value_or(0);
    if (share < 0.005) break;
    return text + fmt::format(", {} <a href=\"#value-{}\">{}</a>", WholePercent(share),
                              group.front(), Escape(Shorten(values[group.front()].name(), 48)));
  }
  return text;
}

// The flags that the advice adds.
std::string Action(const v1::Advice& advice) {
  std::string names;
  for (const std::string& name : advice.names()) {
    names += fmt::format("{}<code>{}</code>", names.empty() ? "" : ", ", Escape(Shorten(name, 56)));
  }
  const std::string& action = advice.action();
  if (action == "several") return names;
  if (action == "int16") return "16 bits for " + names;
  if (action == "keep_float") return "Float for " + names;
  if (action == "activations") return "Activations of type " + names;
  if (action == "calibration") return "Calibration " + names;
  if (action == "rounding") return "Rounding of weights " + names;
  if (action == "equalize") return "Channels scaled alike: equalize " + names;
  if (action == "output_type") return "Outputs: " + names;
  return Escape(action) + " " + names;
}

std::string Command(std::string_view command) {
  return fmt::format(
      "<div class=\"command\"><pre tabindex=\"0\"><code>{}</code></pre><button type=\"button\" "
      "class=\"copy\" hidden>Copy</button></div>",
      Escape(command));
}

std::string Item(const v1::Advice& advice) {
  const std::string cost = advice.cost_elements() > 0
                               ? fmt::format("{} wider", Plural(advice.cost_elements(), "element"))
                               : std::string("same size");
  return fmt::format(
      "<li><p><strong class=\"good\">+{:.1f} dB</strong> {} <span class=\"quiet\">to {}, {}</span>"
      "</p>{}</li>\n",
      advice.gain_db(), Action(advice), Decibel(advice.sqnr_db()), cost, Command(advice.command()));
}

// The command that gives advice; empty if the report is not that of a job with samples, or the
// job chose by itself, which does not go with --advise.
std::string HowToAdvise(const v1::Report& report) {
  const std::string& role = report.numerics().samples_role();
  if (report.has_accuracy_budget() || !report.search().empty()) return {};
  if (report.command().empty() || role.empty() || role == "synthetic") return {};
  return "<h2>What to do</h2>\n<p>To see what causes the error, and what other options gain, run:"
         "</p>" +
         Command(report.command() + " --advise");
}

}  // namespace

std::string Sentence(const v1::Report& report) {
  return SqnrPart(report.numerics()) + SharePart(report.numerics()) + ".";
}

std::string Advice(const v1::Report& report) {
  const auto& advice = report.advice();
  if (advice.empty() && !report.numerics().has_error_shares()) return HowToAdvise(report);
  if (advice.empty()) {
    return "<h2>What to do</h2>\n<p>No other option that was tried gains 0.1 dB.</p>";
  }
  std::string html =
      "<h2>What to do</h2>\n<p class=\"quiet\">Each gain is measured by the command, on the same "
      "samples.</p><ol class=\"advice\">\n";
  const int shown = std::min(kAdviceShown, advice.size());
  for (int i = 0; i < shown; ++i) html += Item(advice[i]);
  html += "</ol>";
  if (advice.size() == shown) return html;
  html += fmt::format("<details><summary>{} more</summary><ol class=\"advice\" start=\"{}\">\n",
                      advice.size() - shown, shown + 1);
  for (int i = shown; i < advice.size(); ++i) html += Item(advice[i]);
  return html + "</ol></details>";
}

std::string Weights(const v1::Report& report) {
  if (report.weights().empty()) return {};
  std::vector<const v1::LayerWeights*> layers;
  for (const v1::LayerWeights& layer : report.weights()) layers.push_back(&layer);
  std::ranges::stable_sort(layers, std::greater<>{}, [](const v1::LayerWeights* layer) {
    return layer->has_error_share() ? layer->error_share() : -1.0;
  });
  std::string html =
      "<h2>Weights</h2>\n<p class=\"lead\">How the weights of each layer were rounded.</p>\n<div "
      "class=\"wide\"><table><thead><tr><th scope=\"col\">Node</th><th scope=\"col\">Operator</th>"
      "<th scope=\"col\">Rounding</th><th scope=\"col\" class=\"number\">Error share</th><th "
      "scope=\"col\" class=\"number\">Changed</th></tr></thead><tbody>\n";
  for (const v1::LayerWeights* layer : layers) {
    const std::string reason =
        layer->reason().empty() ? "" : fmt::format(": {}", Escape(layer->reason()));
    html += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}{}</td><td class=\"number\">{}"
        "</td><td class=\"number\">{} of {}</td></tr>\n",
        Escape(layer->node()), Escape(layer->op()), Escape(layer->rounding()), reason,
        Percent(Optional(layer->has_error_share(), layer->error_share())), Count(layer->changed()),
        Count(layer->elements()));
  }
  return html + "</tbody></table></div>";
}

}  // namespace octavo::report::html

// Where in the network the noise comes from.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/report/html/histogram_plot.h"
#include "core/report/html/sections.h"
#include "core/report/html/sqnr_plot.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr size_t kWorstShown = 12;

const Json& Values(const Json& report) { return List(Member(report, "numerics"), "values"); }

std::string LinkTo(const Json& value, size_t index) {
  return fmt::format("<a href=\"#value-{}\"><code>{}</code></a>", index,
                     Escape(String(Member(value, "name"))));
}

std::string WorstChannel(const Json& value) {
  const Json& channel = Member(value, "worst_channel");
  if (!channel.is_object() || !Member(channel, "index").is_number()) return std::string(kDash);
  return fmt::format("{} of axis {} ({})", Integer(Member(channel, "index")),
                     Integer(Member(channel, "axis")), Decibel(Real(Member(channel, "sqnr_db"))));
}

// The values whose `key` is defined, least first, `most` of them at most.
std::vector<size_t> Least(const Json& values, std::string_view key, size_t most) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (Real(Member(values[i], key))) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return *Real(Member(values[a], key)) < *Real(Member(values[b], key));
  });
  order.resize(std::min(order.size(), most));
  return order;
}

// A bar as long as the noise is loud, among those shown.
std::string NoiseMeter(double decibel, double least, double greatest) {
  const double share = greatest > least ? (greatest - decibel) / (greatest - least) : 1;
  return fmt::format(
      "<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span>",
      8 + 92 * share);
}

std::string Body(const Json& value, size_t index) {
  std::string html = fmt::format("<div class=\"body\" id=\"value-{}\">", index);
  const std::string histogram = HistogramPlot(value, index);
  const std::string steps = StepsPlot(value, index);
  if (!histogram.empty() || !steps.empty()) {
    html += fmt::format(
        "<div class=\"plots\"><div><ul class=\"legend\"><li>float</li><li class=\"integer\">"
        "integer</li></ul>{}</div><div><ul class=\"legend\"><li class=\"integer\">quantization "
        "steps away</li></ul>{}</div></div>",
        histogram, steps);
  }
  html += "<dl class=\"figures\">";
  html += Term("Type", Escape(String(Member(value, "dtype"))));
  html += Term("Scale", Figure(Real(Member(value, "scale")), 7));
  html += Term("Zero point", Figure(Real(Member(value, "zero_point")), 7));
  html += Term("Cosine", Figure(Real(Member(value, "cosine")), 6));
  html += Term("Greatest error", Figure(Real(Member(value, "max_abs")), 4));
  html += Term("Mean error", Figure(Real(Member(value, "mean_abs")), 4));
  html += Term("Most steps away", Figure(Real(Member(value, "max_steps")), 6));
  html += Term("Saturated", Percent(Real(Member(value, "saturated_ratio"))));
  html += Term("Worst channel", WorstChannel(value));
  return html + "</dl></div>";
}

std::string Row(const Json& value, size_t index) {
  return fmt::format(
      "<details class=\"row\"><summary><code>{}</code><span class=\"quiet\">{}</span>"
      "<span class=\"number\">{}</span><span class=\"number\">{}</span></summary>{}</details>\n",
      Escape(String(Member(value, "name"))), Escape(String(Member(value, "dtype"))),
      SqnrOf(value, "sqnr_db"), SqnrOf(value, "local_sqnr_db"), Body(value, index));
}

// The plot's figures for those who cannot see it.
std::string PlotTable(const Json& values) {
  std::string html =
      "<details><summary>The figures as a table</summary><div class=\"wide\"><table><thead><tr>"
      "<th scope=\"col\">Value</th><th scope=\"col\" class=\"number\">Accumulated</th>"
      "<th scope=\"col\" class=\"number\">This layer alone</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < values.size(); ++i) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "</tr>\n",
        LinkTo(values[i], i), SqnrOf(values[i], "sqnr_db"), SqnrOf(values[i], "local_sqnr_db"));
  }
  return html + "</tbody></table></div></details>";
}

}  // namespace

std::string SqnrAlongNetwork(const Json& report) {
  const std::string plot = SqnrPlot(Values(report));
  if (plot.empty()) return {};
  return "<h2>Signal to quantization noise along the network</h2>\n"
         "<p class=\"lead\">Higher is better. The accumulated line compares each value of the "
         "integer model with the float model; the dotted one computes each layer alone in "
         "integers, on float inputs, so a dip in it is that layer's own doing. On the right: the "
         "noise in parts of the signal.</p>\n"
         "<ul class=\"legend\"><li>accumulated</li><li class=\"integer dotted\">this layer alone"
         "</li></ul>\n<div class=\"wide\">" +
         plot + "</div>\n" + PlotTable(Values(report));
}

std::string WorstLayers(const Json& report) {
  const Json& values = Values(report);
  std::string_view key = "local_sqnr_db";
  std::vector<size_t> worst = Least(values, key, kWorstShown);
  if (worst.empty()) worst = Least(values, key = "sqnr_db", kWorstShown);
  if (worst.empty()) return {};
  const double least = *Real(Member(values[worst.front()], key));
  const double greatest = *Real(Member(values[worst.back()], key));
  std::string html =
      "<h2>Worst layers</h2>\n<p class=\"lead\">Those that add most noise by themselves. Keeping "
      "one in float (<code>--keep-float</code>), 16-bit activations or another calibration are "
      "the means against it.</p>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">Value"
      "</th><th scope=\"col\">Type</th><th scope=\"col\" class=\"number\">Alone</th>"
      "<th scope=\"col\"></th><th scope=\"col\" class=\"number\">Accumulated</th>"
      "<th scope=\"col\" class=\"number\">Saturated</th><th scope=\"col\" class=\"number\">"
      "Most steps</th><th scope=\"col\">Worst channel</th></tr></thead><tbody>\n";
  for (const size_t i : worst) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"quiet\">{}</td><td class=\"number\">{}</td>"
        "<td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td>{}</td></tr>\n",
        LinkTo(values[i], i), Escape(String(Member(values[i], "dtype"))),
        SqnrOf(values[i], "local_sqnr_db"),
        NoiseMeter(*Real(Member(values[i], key)), least, greatest), SqnrOf(values[i], "sqnr_db"),
        Percent(Real(Member(values[i], "saturated_ratio"))),
        Figure(Real(Member(values[i], "max_steps")), 6), WorstChannel(values[i]));
  }
  return html + "</tbody></table></div>";
}

std::string AllValues(const Json& report) {
  const Json& values = Values(report);
  if (values.empty()) return {};
  std::string html =
      "<h2>All values</h2>\n<p class=\"lead\">Open one for its distribution in float and in "
      "integers (heights are logarithmic; dashed lines are the ends of its type) and for how many "
      "quantization steps its elements are off.</p>\n"
      "<div class=\"headrow\"><span></span><span>Value</span><span>Type</span>"
      "<span class=\"number\">Accumulated</span><span class=\"number\">Alone</span></div>\n";
  for (size_t i = 0; i < values.size(); ++i) html += Row(values[i], i);
  return html;
}

}  // namespace octavo::report::html

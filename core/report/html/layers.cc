// SPDX-License-Identifier: Apache-2.0
// The sections that show where in the network the quantization noise arises.
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

std::string LinkTo(const v1::ValueNumerics& value, int index) {
  return fmt::format("<a href=\"#value-{}\"><code>{}</code></a>", index, Escape(value.name()));
}

std::string WorstChannel(const v1::ValueNumerics& value) {
  if (!value.has_worst_channel()) return std::string(kDash);
  const v1::WorstChannel& channel = value.worst_channel();
  return fmt::format("{} of axis {} ({})", channel.index(), channel.axis(),
                     Decibel(Optional(channel.has_sqnr_db(), channel.sqnr_db())));
}

std::string LargestError(const v1::ValueNumerics& value) {
  return value.has_max_steps() ? Count(value.max_steps()) + " LSB" : std::string(kDash);
}

std::string Saturated(const v1::ValueNumerics& value) {
  return Percent(Optional(value.has_saturated_ratio(), value.saturated_ratio()));
}

// The per-tensor scale or zero point; per channel, the number of channels.
std::string Parameter(std::optional<double> per_tensor, int channels) {
  if (channels > 0) return fmt::format("{}, per channel", channels);
  return Figure(per_tensor, 7);
}

// The indices of at most `most` values with the lowest defined figures, lowest first.
std::vector<int> Lowest(const Values& values, FigureOf figure, size_t most) {
  std::vector<int> order;
  for (int i = 0; i < values.size(); ++i) {
    if (figure(values[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](int i) { return *figure(values[i]); });
  order.resize(std::min(order.size(), most));
  return order;
}

// A bar for the noise.  Its length is relative to the other values in the list.
std::string NoiseMeter(double decibel, double least, double greatest) {
  const double share = greatest > least ? (greatest - decibel) / (greatest - least) : 1;
  return fmt::format(
      "<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span>",
      8 + 92 * share);
}

std::string Body(const v1::ValueNumerics& value, int index) {
  std::string html = fmt::format("<div class=\"body\" id=\"value-{}\">", index);
  const std::string histogram = HistogramPlot(value, index);
  const std::string steps = StepsPlot(value, index);
  if (!histogram.empty() || !steps.empty()) {
    html += fmt::format(
        "<div class=\"plots\"><div><ul class=\"legend\"><li>float</li><li class=\"integer\">"
        "integer</li></ul>{}</div><div><ul class=\"legend\"><li class=\"integer\">error in "
        "LSB</li></ul>{}</div></div>",
        histogram, steps);
  }
  html += "<dl class=\"figures\">";
  html += Term("Type", Escape(value.dtype()));
  html += Term("Scale", Parameter(Optional(value.has_scale(), value.scale()), value.scales_size()));
  html += Term("Zero point",
               Parameter(Optional(value.has_zero_point(), static_cast<double>(value.zero_point())),
                         value.zero_points_size()));
  html += Term("Cosine", Figure(Optional(value.has_cosine(), value.cosine()), 6));
  html += Term("Largest error", Figure(Optional(value.has_max_abs(), value.max_abs()), 4));
  html += Term("Mean error", Figure(Optional(value.has_mean_abs(), value.mean_abs()), 4));
  html += Term("Largest error in LSB", LargestError(value));
  html += Term("Saturated elements", Saturated(value));
  html += Term("Worst channel", WorstChannel(value));
  return html + "</dl></div>";
}

std::string Row(const v1::ValueNumerics& value, int index) {
  return fmt::format(
      "<details class=\"row\"><summary><code>{}</code><span class=\"quiet\">{}</span>"
      "<span class=\"number\">{}</span><span class=\"number\">{}</span></summary>{}</details>\n",
      Escape(value.name()), Escape(value.dtype()), SqnrText(value), Decibel(LocalSqnr(value)),
      Body(value, index));
}

// The figures of the plot as a table, for screen readers.
std::string PlotTable(const Values& values) {
  std::string html =
      "<details><summary>Figures as a table</summary><div class=\"wide\"><table><thead><tr>"
      "<th scope=\"col\">Value</th><th scope=\"col\" class=\"number\">Accumulated</th>"
      "<th scope=\"col\" class=\"number\">This layer alone</th></tr></thead><tbody>\n";
  for (int i = 0; i < values.size(); ++i) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "</tr>\n",
        LinkTo(values[i], i), SqnrText(values[i]), Decibel(LocalSqnr(values[i])));
  }
  return html + "</tbody></table></div></details>";
}

}  // namespace

std::string SqnrAlongNetwork(const v1::Report& report) {
  const Values& values = report.numerics().values();
  const std::string plot = SqnrPlot(values);
  if (plot.empty()) return {};
  return "<h2>Signal to quantization noise along the network</h2>\n"
         "<p class=\"lead\">SQNR of every value against the float model; higher is better. Solid "
         "line: the whole model in integers, so that errors accumulate. Dotted line: this layer "
         "alone in integers, on inputs from the float model; a dip marks a layer that adds noise "
         "itself. The right axis is the noise in percent of the signal.</p>\n"
         "<ul class=\"legend\"><li>accumulated</li><li class=\"integer dotted\">this layer alone"
         "</li></ul>\n<div class=\"wide\">" +
         plot + "</div>\n" + PlotTable(values);
}

std::string WorstLayers(const v1::Report& report) {
  const Values& values = report.numerics().values();
  FigureOf figure = &LocalSqnr;
  std::vector<int> worst = Lowest(values, figure, kWorstShown);
  if (worst.empty()) worst = Lowest(values, figure = &Sqnr, kWorstShown);
  if (worst.empty()) return {};
  const double least = *figure(values[worst.front()]);
  const double greatest = *figure(values[worst.back()]);
  std::string html =
      "<h2>Worst layers</h2>\n<p class=\"lead\">The layers that add the most noise by "
      "themselves. To improve one, keep it in float (<code>--keep-float</code>), use 16-bit "
      "activations (<code>--activations i16</code>) or another "
      "<code>--calibration</code>.</p>\n<div class=\"wide\"><table><thead><tr><th "
      "scope=\"col\">Value"
      "</th><th scope=\"col\">Type</th><th scope=\"col\" class=\"number\">Alone</th>"
      "<th scope=\"col\"></th><th scope=\"col\" class=\"number\">Accumulated</th>"
      "<th scope=\"col\" class=\"number\">Saturated</th><th scope=\"col\" class=\"number\">"
      "Largest error</th><th scope=\"col\">Worst channel</th></tr></thead><tbody>\n";
  for (const int i : worst) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"quiet\">{}</td><td class=\"number\">{}</td>"
        "<td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td>{}</td></tr>\n",
        LinkTo(values[i], i), Escape(values[i].dtype()), Decibel(LocalSqnr(values[i])),
        NoiseMeter(*figure(values[i]), least, greatest), SqnrText(values[i]), Saturated(values[i]),
        LargestError(values[i]), WorstChannel(values[i]));
  }
  return html + "</tbody></table></div>";
}

std::string AllValues(const v1::Report& report) {
  const Values& values = report.numerics().values();
  if (values.empty()) return {};
  std::string html =
      "<h2>All values</h2>\n<p class=\"lead\">Open a value to see its distributions in float "
      "and in integers (logarithmic counts; dashed lines mark the bounds of its type) and its "
      "errors in quantization steps (LSB).</p>\n"
      "<div class=\"headrow\"><span></span><span>Value</span><span>Type</span>"
      "<span class=\"number\">Accumulated</span><span class=\"number\">Alone</span></div>\n";
  for (int i = 0; i < values.size(); ++i) html += Row(values[i], i);
  return html;
}

}  // namespace octavo::report::html

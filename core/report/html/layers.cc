// SPDX-License-Identifier: Apache-2.0
// The sections that show where in the network the quantization noise arises.
#include <algorithm>
#include <vector>

#include "core/report/html/groups.h"
#include "core/report/html/histogram_plot.h"
#include "core/report/html/sections.h"
#include "core/report/html/sqnr_plot.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

// Rows that show both plots; those after them would make the page of a large model slow.
constexpr size_t kMostPlots = 600;

std::string WorstChannel(const v1::ValueNumerics& value) {
  if (!value.has_worst_channel()) return std::string(kDash);
  const v1::WorstChannel& channel = value.worst_channel();
  return fmt::format("{} of axis {} ({})", channel.index(), channel.axis(),
                     Decibel(Optional(channel.has_sqnr_db(), channel.sqnr_db())));
}

std::string LargestError(const v1::ValueNumerics& value) {
  return value.has_max_steps() ? Count(value.max_steps()) + " LSB" : std::string(kDash);
}

// The per-tensor scale or zero point; per channel, the number of channels.
std::string Parameter(std::optional<double> per_tensor, int channels) {
  if (channels > 0) return fmt::format("{}, per channel", channels);
  return Figure(per_tensor, 7);
}

std::string Plots(const v1::ValueNumerics& value, int index) {
  const std::string histogram = HistogramPlot(value, index);
  const std::string steps = StepsPlot(value, index);
  if (histogram.empty() && steps.empty()) return {};
  return fmt::format(
      "<div class=\"plots\"><div><ul class=\"legend\"><li>float</li><li class=\"integer\">"
      "integer</li></ul>{}</div><div><ul class=\"legend\"><li class=\"integer\">error in "
      "LSB</li></ul>{}</div></div>",
      histogram, steps);
}

std::string Figures(const v1::ValueNumerics& value) {
  std::string html = "<dl class=\"figures\">";
  html += Term("Scale", Parameter(Optional(value.has_scale(), value.scale()), value.scales_size()));
  html += Term("Zero point",
               Parameter(Optional(value.has_zero_point(), static_cast<double>(value.zero_point())),
                         value.zero_points_size()));
  html += Term("Cosine", Figure(Optional(value.has_cosine(), value.cosine()), 6));
  html += Term("Largest error", Figure(Optional(value.has_max_abs(), value.max_abs()), 4));
  html += Term("Mean error", Figure(Optional(value.has_mean_abs(), value.mean_abs()), 4));
  html += Term("Largest error in LSB", LargestError(value));
  html += Term("Saturated elements",
               Percent(Optional(value.has_saturated_ratio(), value.saturated_ratio())));
  html += Term("Outside the calibrated range",
               Percent(Optional(value.has_drift(), value.drift().share())));
  html += Term("Worst channel", WorstChannel(value));
  return html + "</dl>";
}

// The other values of the group.
std::string Members(const Values& values, const Group& group) {
  if (group.size() == 1) return {};
  std::string html = "<p class=\"members\">Of the same type, through data movement:";
  for (size_t i = 1; i < group.size(); ++i) {
    const v1::ValueNumerics& value = values[group[i]];
    html += fmt::format(" <span id=\"value-{}\"><code>{}</code> {}</span>", group[i],
                        Escape(value.name()), SqnrText(value));
  }
  return html + "</p>";
}

std::string Badge(std::string_view css, std::string_view text) {
  return fmt::format(" <span class=\"badge {}\">{}</span>", css, text);
}

// What a reader should know of the range of the value.
std::string Marks(const v1::ValueNumerics& value) {
  std::string html;
  if (value.saturated_ratio() >= 0.001) {
    html += Badge("warn", Percent(value.saturated_ratio()) + " saturated");
  }
  if (value.has_drift() && value.drift().share() >= 0.001) {
    html += Badge("warn", Percent(value.drift().share()) + " outside its range");
  }
  return html;
}

std::string ShareCell(const v1::ValueNumerics& value, double greatest) {
  const std::optional<double> share = ErrorShare(value);
  if (!share) return std::string(kDash);
  return fmt::format(
      "<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span> {}",
      greatest > 0 ? 100 * *share / greatest : 0, Percent(share));
}

// An attribute that the page's script sorts by; none for an undefined figure.
std::string SortKey(std::string_view name, std::optional<double> figure) {
  return figure ? fmt::format(" data-{}=\"{:.6g}\"", name, *figure) : std::string();
}

// The node and the operator that compute the value.
std::string Origin(const v1::ValueNumerics& value, size_t others) {
  std::string text;
  if (!value.op().empty()) text = Escape(value.op());
  if (!value.node().empty() && value.node() != value.name()) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", Escape(Shorten(value.node(), 60)));
  }
  if (text.empty() && value.node().empty()) text = "input";
  if (others > 0) text += fmt::format(" · and {} more", others);
  return text;
}

std::string Row(const Values& values, const Group& group, double greatest, bool with_plots) {
  const int index = group.front();
  const v1::ValueNumerics& value = values[index];
  std::string html = fmt::format(
      "<details class=\"row\" id=\"value-{}\" data-order=\"{}\"{}{}{}><summary><span><code>{}"
      "</code>{}<br><span class=\"quiet\">{}</span></span><span class=\"quiet\">{}</span>",
      index, index, SortKey("share", ErrorShare(value)), SortKey("sqnr", Sqnr(value)),
      SortKey("local", LocalSqnr(value)), Escape(value.name()), Marks(value),
      Origin(value, group.size() - 1), Escape(value.dtype()));
  html += fmt::format(
      "<span class=\"number\">{}</span><span class=\"number\">{}</span><span class=\"number\">{}"
      "</span></summary><div class=\"body\">{}{}{}</div></details>\n",
      ShareCell(value, greatest), SqnrText(value), Decibel(LocalSqnr(value)),
      with_plots ? Plots(value, index) : std::string(), Figures(value), Members(values, group));
  return html;
}

// A caption of a column, which the page's script makes sort.
std::string Caption(std::string_view key, std::string_view text, std::string_view css = "") {
  return fmt::format("<button type=\"button\" class=\"{}\" data-sort=\"{}\" disabled>{}</button>",
                     css, key, text);
}

// The figures of the plot as a table, for screen readers.
std::string PlotTable(const Values& values) {
  std::string html =
      "<details><summary>Figures as a table</summary><div class=\"wide\"><table><thead><tr>"
      "<th scope=\"col\">Value</th><th scope=\"col\" class=\"number\">Accumulated</th>"
      "<th scope=\"col\" class=\"number\">This layer alone</th></tr></thead><tbody>\n";
  for (int i = 0; i < values.size(); ++i) {
    html += fmt::format(
        "<tr><td><a href=\"#value-{}\">{}</a></td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td></tr>\n",
        i, Escape(values[i].name()), SqnrText(values[i]), Decibel(LocalSqnr(values[i])));
  }
  return html + "</tbody></table></div></details>";
}

}  // namespace

std::string SqnrAlongNetwork(const v1::Report& report) {
  const Values& values = report.numerics().values();
  const std::string plot = SqnrPlot(values);
  if (plot.empty()) return {};
  return "<h2>Signal to quantization noise along the network</h2>\n"
         "<ul class=\"legend\"><li>accumulated: the whole model in integers</li><li "
         "class=\"integer dotted\">this layer alone, on inputs from the float model; a dip adds "
         "noise itself</li></ul>\n<div class=\"wide\">" +
         plot + "</div>\n" + PlotTable(values);
}

std::string AllValues(const v1::Report& report) {
  const Values& values = report.numerics().values();
  if (values.empty()) return {};
  const std::vector<Group> groups = GroupsOf(values);
  double greatest = 0;
  for (const v1::ValueNumerics& value : values) {
    greatest = std::max(greatest, ErrorShare(value).value_or(0));
  }
  std::string html = fmt::format(
      "<h2>Values</h2>\n<p class=\"lead\">{} in {}: a row for all values that share a scale, with "
      "the node that computes the first of them. Open it to see its distributions (logarithmic "
      "counts; dashed lines mark the bounds of its type) and its errors in quantization steps "
      "(LSB).</p>\n<p class=\"tools\" hidden><label>Filter <input type=\"search\" id=\"filter\" "
      "placeholder=\"value, node or operator\"></label> <output id=\"found\"></output></p>\n",
      Plural(values.size(), "value"), Plural(static_cast<int64_t>(groups.size()), "group"));
  html +=
      fmt::format("<div class=\"headrow\"><span></span>{}<span>Type</span>{}{}{}</div>\n",
                  Caption("order", "Value, in order"), Caption("share", "Error share", "number"),
                  Caption("sqnr", "Accumulated", "number"), Caption("local", "Alone", "number"));
  for (size_t i = 0; i < groups.size(); ++i) {
    html += Row(values, groups[i], greatest, i < kMostPlots);
  }
  return html;
}

}  // namespace octavo::report::html

// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/sqnr_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/report/html/groups.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr double kWidth = 1070;
constexpr double kLeft = 56;
constexpr double kRight = 74;
constexpr double kTop = 14;
constexpr double kPlotHeight = 160;
// The axis shows these at most: an exact input at 145 dB would flatten all else.
constexpr double kLeastShown = -20;
constexpr double kMostShown = 60;
// Maximum numbers of values; with more, names or dots would overlap.
constexpr int kMaxNames = 40;
constexpr int kMaxDots = 400;

struct Series {
  FigureOf figure = nullptr;
  std::string_view css = {};
  std::string_view caption = {};
};
constexpr Series kAccumulated{&Sqnr, "accumulated", "accumulated"};
constexpr Series kLocal{&LocalSqnr, "local", "this layer alone"};

// Maps a value's index and a ratio to coordinates.
struct Scale {
  int count = 0;
  double low = 0;  // in dB; `low` and `high` are multiples of `step`
  double high = 0;
  double step = 10;

  double X(int index) const {
    const double room = kWidth - kLeft - kRight;
    return kLeft + (count == 1 ? room / 2 : room * (0.5 + index) / count);
  }
  double Y(double decibel) const {
    return kTop + kPlotHeight * (high - std::clamp(decibel, low, high)) / (high - low);
  }
};

Scale FitScale(const Values& values) {
  Scale scale{.count = values.size()};
  double least = INFINITY;
  double most = -INFINITY;
  for (const v1::ValueNumerics& value : values) {
    for (const Series& series : {kAccumulated, kLocal}) {
      if (const std::optional<double> sqnr = series.figure(value)) {
        least = std::min(least, *sqnr);
        most = std::max(most, *sqnr);
      }
    }
  }
  if (least > most) return {};
  least = std::clamp(least, kLeastShown + 1, kMostShown - 1);
  most = std::clamp(most, least, kMostShown - 1);
  while ((most - least) / scale.step > 7) scale.step *= 2;
  scale.low = std::floor((least - 1) / scale.step) * scale.step;
  scale.high = std::ceil((most + 1) / scale.step) * scale.step;
  return scale;
}

// At D dB the noise is 10^(-D/20) of the signal in amplitude.
std::string NoiseShare(double decibel) {
  const double percent = 100 * std::pow(10.0, -decibel / 20);
  if (percent > 1000) return {};
  return fmt::format("{:.{}g} %", percent, 2);
}

std::string Grid(const Scale& scale) {
  std::string svg;
  for (double tick = scale.low; tick <= scale.high; tick += scale.step) {
    const double y = scale.Y(tick);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f} dB</text>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
        kLeft, kWidth - kRight, y, y, kLeft - 8, y + 4, tick, kWidth - kRight + 10, y + 4,
        NoiseShare(tick));
  }
  return svg;
}

// The runs of consecutive defined figures; each run is one stroke of the plot.
std::vector<std::vector<int>> Runs(const Values& values, FigureOf figure) {
  std::vector<std::vector<int>> runs(1);
  for (int i = 0; i < values.size(); ++i) {
    if (figure(values[i])) {
      runs.back().push_back(i);
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

std::string Line(const Values& values, const Series& series, const Scale& scale) {
  std::string svg;
  for (const std::vector<int>& run : Runs(values, series.figure)) {
    std::string path;
    for (const int i : run) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', scale.X(i),
                          scale.Y(*series.figure(values[i])));
    }
    if (series.css == kAccumulated.css) {
      svg += fmt::format("<path class=\"accumulated-area\" d=\"{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/>",
                         path, scale.X(run.back()), scale.Y(scale.low), scale.X(run.front()),
                         scale.Y(scale.low));
    }
    svg += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", series.css, path);
  }
  return svg;
}

// Draws the dots.  Each has the value's name as its tooltip and links to the value's figures.
std::string Dots(const Values& values, const Series& series, const Scale& scale) {
  std::string svg;
  for (int i = 0; i < values.size(); ++i) {
    const std::optional<double> sqnr = series.figure(values[i]);
    if (!sqnr) continue;
    svg += fmt::format(
        "<a href=\"#value-{}\"><circle class=\"dot-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">"
        "<title>{}: {:.1f} dB {}</title></circle></a>\n",
        i, series.css, scale.X(i), scale.Y(*sqnr), values.size() > 120 ? 2 : 3.5,
        Escape(values[i].name()), *sqnr, series.caption);
  }
  return svg;
}

// Draws a ring and the name at the value that leads the list of values.
std::string WorstMark(const Values& values, const Scale& scale) {
  const int worst = GroupsOf(values).front().front();
  const std::optional<double> figure =
      LocalSqnr(values[worst]) ? LocalSqnr(values[worst]) : Sqnr(values[worst]);
  if (!figure) return {};
  const double x = scale.X(worst);
  const double y = scale.Y(*figure);
  const bool on_the_left = x > kWidth * 0.6;
  return fmt::format(
      "<circle class=\"worst\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\"/>"
      "<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
      x, y, x + (on_the_left ? -13 : 13), std::min(y + 18, kTop + kPlotHeight - 4),
      on_the_left ? "end" : "start", Escape(Shorten(values[worst].name(), 40)));
}

std::string AxisNames(const Values& values, const Scale& scale) {
  std::string svg;
  const double y = kTop + kPlotHeight;
  if (values.size() <= kMaxNames) {
    for (int i = 0; i < values.size(); ++i) {
      svg += fmt::format(
          "<text transform=\"translate({:.1f} {:.1f}) rotate(-40)\" text-anchor=\"end\">{}</text>",
          scale.X(i) + 4, y + 15, Escape(Shorten(values[i].name(), 17)));
    }
    return svg;
  }
  const int step = (values.size() + 9) / 10;
  for (int i = 0; i < values.size(); i += step) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                       scale.X(i), y + 18, i + 1);
  }
  return svg + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">value, in the order "
                   "of computation</text>",
                   (kLeft + kWidth - kRight) / 2, y + 36);
}

}  // namespace

std::string SqnrPlot(const Values& values) {
  const Scale scale = FitScale(values);
  if (scale.count == 0) return {};
  const double height = kTop + kPlotHeight + (values.size() <= kMaxNames ? 96 : 44);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"sqnr-title sqnr-desc\">\n"
      "<title id=\"sqnr-title\">Signal to quantization noise along the network</title>\n"
      "<desc id=\"sqnr-desc\">SQNR of {} values in the order of computation, from {:.0f} to "
      "{:.0f} dB; what is beyond is at the edge: accumulated, and of each layer alone. The table "
      "below lists the "
      "figures.</desc>\n",
      kWidth, height, values.size(), scale.low, scale.high);
  svg += Grid(scale);
  svg += Line(values, kAccumulated, scale);
  svg += Line(values, kLocal, scale);
  if (values.size() <= kMaxDots) {
    svg += Dots(values, kAccumulated, scale);
    svg += Dots(values, kLocal, scale);
  }
  svg += WorstMark(values, scale);
  svg += AxisNames(values, scale);
  return svg + "</svg>\n";
}

}  // namespace octavo::report::html

#include "core/report/html/sqnr_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr double kWidth = 1070;
constexpr double kLeft = 56;
constexpr double kRight = 74;
constexpr double kTop = 14;
constexpr double kPlotHeight = 250;
// Beyond these numbers of values there is no room for names and for dots.
constexpr size_t kMostNames = 40;
constexpr size_t kMostDots = 400;

struct Series {
  std::string_view key = {};
  std::string_view css = {};
  std::string_view caption = {};
};
constexpr Series kAccumulated{"sqnr_db", "accumulated", "accumulated"};
constexpr Series kLocal{"local_sqnr_db", "local", "this layer alone"};

// Where a value and a ratio stand on the paper.
struct Scale {
  size_t count = 0;
  double low = 0;  // dB, multiples of the step
  double high = 0;
  double step = 10;

  double X(size_t index) const {
    const double room = kWidth - kLeft - kRight;
    return kLeft + (count == 1
                        ? room / 2
                        : room * (0.5 + static_cast<double>(index)) / static_cast<double>(count));
  }
  double Y(double decibel) const { return kTop + kPlotHeight * (high - decibel) / (high - low); }
};

Scale FitScale(const Json& values) {
  Scale scale{.count = values.size()};
  double least = INFINITY;
  double most = -INFINITY;
  for (const Json& value : values) {
    for (const Series& series : {kAccumulated, kLocal}) {
      if (const std::optional<double> sqnr = Real(Member(value, series.key))) {
        least = std::min(least, *sqnr);
        most = std::max(most, *sqnr);
      }
    }
  }
  if (least > most) return {};
  while ((most - least) / scale.step > 7) scale.step *= 2;
  scale.low = std::floor((least - 1) / scale.step) * scale.step;
  scale.high = std::ceil((most + 1) / scale.step) * scale.step;
  return scale;
}

// Noise of -D dB is 10^(-D/20) of the signal in amplitude.
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

// One stroke for each run of defined figures.
std::vector<std::vector<size_t>> Runs(const Json& values, std::string_view key) {
  std::vector<std::vector<size_t>> runs(1);
  for (size_t i = 0; i < values.size(); ++i) {
    if (Real(Member(values[i], key))) {
      runs.back().push_back(i);
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

std::string Line(const Json& values, const Series& series, const Scale& scale) {
  std::string svg;
  for (const std::vector<size_t>& run : Runs(values, series.key)) {
    std::string path;
    for (const size_t i : run) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', scale.X(i),
                          scale.Y(*Real(Member(values[i], series.key))));
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

// Dots name their value when pointed at, and lead to its figures.
std::string Dots(const Json& values, const Series& series, const Scale& scale) {
  std::string svg;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<double> sqnr = Real(Member(values[i], series.key));
    if (!sqnr) continue;
    svg += fmt::format(
        "<a href=\"#value-{}\"><circle class=\"dot-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">"
        "<title>{}: {:.1f} dB {}</title></circle></a>\n",
        i, series.css, scale.X(i), scale.Y(*sqnr), values.size() > 120 ? 2 : 3.5,
        Escape(String(Member(values[i], "name"))), *sqnr, series.caption);
  }
  return svg;
}

// A ring and the name at the layer that adds most noise by itself.
std::string WorstMark(const Json& values, const Scale& scale) {
  std::optional<size_t> worst;
  double least = INFINITY;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<double> local = Real(Member(values[i], kLocal.key));
    if (local && *local < least) {
      least = *local;
      worst = i;
    }
  }
  if (!worst) return {};
  const double x = scale.X(*worst);
  const double y = scale.Y(least);
  const bool on_the_left = x > kWidth * 0.6;
  return fmt::format(
      "<circle class=\"worst\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\"/>"
      "<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
      x, y, x + (on_the_left ? -13 : 13), std::min(y + 18, kTop + kPlotHeight - 4),
      on_the_left ? "end" : "start", Escape(Shorten(String(Member(values[*worst], "name")), 40)));
}

std::string AxisNames(const Json& values, const Scale& scale) {
  std::string svg;
  const double y = kTop + kPlotHeight;
  if (values.size() <= kMostNames) {
    for (size_t i = 0; i < values.size(); ++i) {
      svg += fmt::format(
          "<text transform=\"translate({:.1f} {:.1f}) rotate(-40)\" text-anchor=\"end\">{}</text>",
          scale.X(i) + 4, y + 15, Escape(Shorten(String(Member(values[i], "name")), 17)));
    }
    return svg;
  }
  const size_t step = (values.size() + 9) / 10;
  for (size_t i = 0; i < values.size(); i += step) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                       scale.X(i), y + 18, i + 1);
  }
  return svg + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">value, in the order "
                   "of computation</text>",
                   (kLeft + kWidth - kRight) / 2, y + 36);
}

}  // namespace

std::string SqnrPlot(const Json& values) {
  if (!values.is_array()) return {};
  const Scale scale = FitScale(values);
  if (scale.count == 0) return {};
  const double height = kTop + kPlotHeight + (values.size() <= kMostNames ? 96 : 44);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"sqnr-title sqnr-desc\">\n"
      "<title id=\"sqnr-title\">Signal to quantization noise along the network</title>\n"
      "<desc id=\"sqnr-desc\">Decibel over {} values in the order of computation, from {:.0f} to "
      "{:.0f} dB. One line accumulates the noise, the other shows each layer alone. The figures "
      "are in the table below.</desc>\n",
      kWidth, height, values.size(), scale.low, scale.high);
  svg += Grid(scale);
  svg += Line(values, kAccumulated, scale);
  svg += Line(values, kLocal, scale);
  if (values.size() <= kMostDots) {
    svg += Dots(values, kAccumulated, scale);
    svg += Dots(values, kLocal, scale);
  }
  svg += WorstMark(values, scale);
  svg += AxisNames(values, scale);
  return svg + "</svg>\n";
}

}  // namespace octavo::report::html

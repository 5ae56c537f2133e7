// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/histogram_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr double kWidth = 560;
constexpr double kStepsWidth = 340;
constexpr double kTop = 8;
constexpr double kHeight = 120;
constexpr double kBase = kTop + kHeight;

std::vector<double> Counts(const google::protobuf::RepeatedField<int64_t>& list) {
  return {list.begin(), list.end()};
}

double Sum(const std::vector<double>& counts) {
  double sum = 0;
  for (const double count : counts) sum += count;
  return sum;
}

double Greatest(const std::vector<double>& counts) {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

// The height is logarithmic: most activations are near zero, and a bin with one element must be
// visible.
double Height(double count, double greatest) {
  return greatest > 0 ? kHeight * std::log2(1 + count) / std::log2(1 + greatest) : 0;
}

std::string Outline(const std::vector<double>& counts, double greatest) {
  std::string path = fmt::format("M0 {:.0f}", kBase);
  const double width = kWidth / static_cast<double>(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    path += fmt::format("V{:.0f}H{:.0f}", kBase - Height(counts[i], greatest),
                        width * static_cast<double>(i + 1));
  }
  return path + fmt::format("V{:.0f}", kBase);
}

struct IntegerType {
  std::string_view name = {};
  double min = 0;
  double max = 0;
};
constexpr IntegerType kIntegerTypes[] = {
    {"i8", -128, 127},   {"u8", 0, 255},    {"i16", -32768, 32767},   {"u16", 0, 65535},
    {"int8", -128, 127}, {"uint8", 0, 255}, {"int16", -32768, 32767}, {"uint16", 0, 65535}};

// Draws a vertical line at `real` if it lies within [low, high], the range of the plot.
std::string Mark(double real, double low, double high, std::string_view css,
                 std::string_view caption) {
  if (!(real >= low && real <= high)) return {};
  const double x = kWidth * (real - low) / (high - low);
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"><title>{} "
      "{:.4g}</title></line>",
      css, x, x, kTop, kBase, caption, real);
}

std::string TypeBounds(const v1::ValueNumerics& value, double low, double high) {
  if (!value.has_scale() || !value.has_zero_point()) return {};
  const auto zero_point = static_cast<double>(value.zero_point());
  for (const IntegerType& type : kIntegerTypes) {
    if (type.name != value.dtype()) continue;
    return Mark((type.min - zero_point) * value.scale(), low, high, "limit",
                "lower bound of the type:") +
           Mark((type.max - zero_point) * value.scale(), low, high, "limit",
                "upper bound of the type:");
  }
  return {};
}

std::string Head(std::string_view id, double width, std::string_view title,
                 std::string_view description) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"{}-title {}-desc\">"
      "<title id=\"{}-title\">{}</title><desc id=\"{}-desc\">{}</desc>\n",
      width, kBase + 22, id, id, id, title, id, description);
}

}  // namespace

std::string HistogramPlot(const v1::ValueNumerics& value, int index) {
  const v1::ValueHistogram& histogram = value.histogram();
  const std::vector<double> floats = Counts(histogram.float_());
  const std::vector<double> integers = Counts(histogram.integer());
  const double low = histogram.low(), high = histogram.high();
  if (floats.empty() || integers.empty() || !(low < high)) return {};

  const double greatest = std::max(Greatest(floats), Greatest(integers));
  std::string svg =
      Head(fmt::format("histogram-{}", index), kWidth,
           fmt::format("Distribution of {}", Escape(value.name())),
           fmt::format("Counts of float and integer values from {:.4g} to {:.4g}, on a "
                       "logarithmic scale.",
                       low, high));
  svg += fmt::format("<path class=\"float-shape\" d=\"{}\"/>", Outline(floats, greatest));
  svg += fmt::format("<path class=\"integer-line\" d=\"{}\"/>\n", Outline(integers, greatest));
  svg += TypeBounds(value, low, high);
  svg += Mark(0, low, high, "zero", "zero:");
  svg += fmt::format(
      "<line class=\"axis\" x1=\"0\" x2=\"{:.0f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>"
      "<text x=\"0\" y=\"{:.0f}\">{:.4g}</text>"
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.4g}</text></svg>\n",
      kWidth, kBase, kBase, kBase + 17, low, kWidth, kBase + 17, high);
  return svg;
}

std::string StepsPlot(const v1::ValueNumerics& value, int index) {
  const std::vector<double> steps = Counts(value.steps_histogram());
  const double sum = Sum(steps);
  if (steps.size() < 2 || sum <= 0) return {};
  std::string svg = Head(fmt::format("steps-{}", index), kStepsWidth,
                         fmt::format("Errors of {} in LSB", Escape(value.name())),
                         fmt::format("{} of the elements are equal, {} differ by one LSB.",
                                     Percent(steps[0] / sum), Percent(steps[1] / sum)));
  const double width = kStepsWidth / static_cast<double>(steps.size());
  const double greatest = Greatest(steps);
  std::string bars, captions;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double height = kHeight * steps[i] / greatest;
    const double x = width * static_cast<double>(i);
    if (height >= 0.05) {
      bars += fmt::format("M{:.0f} {:.0f}v-{:.1f}h{:.0f}v{:.1f}", x + 1, kBase, height, width - 2,
                          height);
    }
    const bool last = i + 1 == steps.size();
    if (i % 4 == 0) {
      captions += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>",
                              last ? kStepsWidth : x + width / 2, kBase + 17,
                              last ? "end" : "middle", last ? "more" : std::to_string(i));
    }
  }
  svg += fmt::format("<path class=\"bar\" d=\"{}\"/>{}", bars, captions);
  return svg + fmt::format(
                   "<line class=\"axis\" x1=\"0\" x2=\"{:.0f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>"
                   "</svg>\n",
                   kStepsWidth, kBase, kBase);
}

}  // namespace octavo::report::html

// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace octavo::ops {
namespace {

using Coordinate = float (*)(const ResizeAxis& axis, float x);
struct NamedCoordinate {
  std::string_view name;
  Coordinate source;
};

float HalfPixel(const ResizeAxis& axis, float x) { return (x + 0.5f) / axis.scale - 0.5f; }

float HalfPixelSymmetric(const ResizeAxis& axis, float x) {
  const auto in = static_cast<float>(axis.in);
  const float adjustment = static_cast<float>(axis.out) / (axis.scale * in);
  const float center = in / 2;
  return center * (1 - adjustment) + HalfPixel(axis, x);
}

float PytorchHalfPixel(const ResizeAxis& axis, float x) {
  return axis.out > 1 ? HalfPixel(axis, x) : 0.0f;
}

float AlignCorners(const ResizeAxis& axis, float x) {
  if (axis.length == 1) return 0.0f;
  return x * static_cast<float>(axis.in - 1) / (axis.length - 1);
}

float Asymmetric(const ResizeAxis& axis, float x) { return x / axis.scale; }

float CropAndResize(const ResizeAxis& axis, float x) {
  const auto last = static_cast<float>(axis.in - 1);
  if (axis.length == 1) return 0.5f * (axis.roi_start + axis.roi_end) * last;
  return axis.roi_start * last + x * (axis.roi_end - axis.roi_start) * last / (axis.length - 1);
}

constexpr NamedCoordinate kCoordinates[] = {
    {"half_pixel", &HalfPixel},
    {"half_pixel_symmetric", &HalfPixelSymmetric},
    {"pytorch_half_pixel", &PytorchHalfPixel},
    {"align_corners", &AlignCorners},
    {"asymmetric", &Asymmetric},
    {"tf_crop_and_resize", &CropAndResize},
};

struct NamedRounding {
  std::string_view name;
  float (*round)(float x);
};

constexpr NamedRounding kRoundings[] = {
    {"round_prefer_floor", [](float x) { return std::ceil(x - 0.5f); }},
    {"round_prefer_ceil", [](float x) { return std::floor(x + 0.5f); }},
    {"floor", [](float x) { return std::floor(x); }},
    {"ceil", [](float x) { return std::ceil(x); }},
};

template <class Row>
const Row* Find(std::span<const Row> rows, std::string_view name) {
  const auto at = std::ranges::find(rows, name, &Row::name);
  return at == rows.end() ? nullptr : &*at;
}

// Keys' cubic convolution.
double CubicWeight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Result extents by sizes and policy: `stretch` uses the sizes directly, the others keep the ratio.
void ApplySizes(const std::vector<int64_t>& axes, const std::vector<int64_t>& sizes,
                const ResizeMode& mode, std::vector<ResizeAxis>& plan) {
  float common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan[axes[i]];
    axis.out = sizes[i];
    axis.scale = static_cast<float>(sizes[i]) / static_cast<float>(axis.in);
    const bool take = mode.policy == "not_larger" ? axis.scale < common : axis.scale > common;
    if (i == 0 || take) common = axis.scale;
  }
  if (mode.policy == "stretch") return;
  for (const int64_t i : axes) {
    plan[i].scale = common;
    plan[i].out = static_cast<int64_t>(std::floor(common * static_cast<float>(plan[i].in) + 0.5f));
  }
}

}  // namespace

ResizeMode ResizeModeOf(const ir::AttrMap& attributes) {
  const ResizeMode base;
  return {.mode = attributes.String("mode", base.mode),
          .coordinates = attributes.String("coordinate_transformation_mode", base.coordinates),
          .nearest = attributes.String("nearest_mode", base.nearest),
          .policy = attributes.String("keep_aspect_ratio_policy", base.policy),
          .cubic_coeff_a = attributes.Float("cubic_coeff_a", base.cubic_coeff_a),
          .exclude_outside = attributes.Int("exclude_outside", 0) != 0,
          .antialias = attributes.Int("antialias", 0) != 0,
          .extrapolation = attributes.Float("extrapolation_value", 0)};
}

std::string UnknownWord(const ResizeMode& mode) {
  if (mode.mode != "nearest" && mode.mode != "linear" && mode.mode != "cubic") return mode.mode;
  if (!Find<NamedCoordinate>(kCoordinates, mode.coordinates)) return mode.coordinates;
  if (!Find<NamedRounding>(kRoundings, mode.nearest)) return mode.nearest;
  if (mode.policy != "stretch" && mode.policy != "not_larger" && mode.policy != "not_smaller") {
    return mode.policy;
  }
  return {};
}

std::string PlanResize(const ir::Shape& shape, const ResizeMode& mode,
                       const std::vector<int64_t>& axes, const std::vector<float>& roi,
                       const std::vector<float>* scales, const std::vector<int64_t>* sizes,
                       std::vector<ResizeAxis>& plan) {
  plan.clear();
  for (const int64_t extent : shape) plan.push_back({.in = extent, .out = extent});
  if ((scales ? scales->size() : sizes->size()) != axes.size()) {
    return fmt::format("scales or sizes must have {} elements", axes.size());
  }
  if (mode.crops() && roi.size() != 2 * axes.size()) {
    return fmt::format("roi must have {} elements", 2 * axes.size());
  }
  if (mode.crops()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      plan[axes[i]].roi_start = roi[i];
      plan[axes[i]].roi_end = roi[axes.size() + i];
    }
  }
  if (sizes) ApplySizes(axes, *sizes, mode, plan);
  for (size_t i = 0; scales && i < axes.size(); ++i) {
    ResizeAxis& axis = plan[axes[i]];
    axis.scale = (*scales)[i];
    const float span = mode.crops() ? axis.roi_end - axis.roi_start : 1.0f;
    const float out = std::floor(static_cast<float>(axis.in) * span * axis.scale);
    if (!(axis.scale > 0) || !(out < 0x1p40f))
      return fmt::format("scale {} is not allowed", axis.scale);
    axis.out = static_cast<int64_t>(out);
  }
  for (ResizeAxis& axis : plan) {
    const bool given = sizes != nullptr && mode.policy == "stretch";
    axis.length = given ? static_cast<float>(axis.out) : axis.scale * static_cast<float>(axis.in);
    if (axis.out < 0 || (axis.in == 0 && axis.out > 0)) {
      return fmt::format("extent {} cannot become {}", axis.in, axis.out);
    }
  }
  return {};
}

float SourceOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x) {
  if (axis.unchanged() && !mode.crops()) return static_cast<float>(x);
  return Find<NamedCoordinate>(kCoordinates, mode.coordinates)->source(axis, static_cast<float>(x));
}

int64_t NearestOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x) {
  const float rounded =
      Find<NamedRounding>(kRoundings, mode.nearest)->round(SourceOf(axis, mode, x));
  return static_cast<int64_t>(std::clamp(rounded, 0.0f, static_cast<float>(axis.in - 1)));
}

namespace {

// The filter stretched by 1 / scale: all positions within its support, with weights that sum to 1.
std::vector<ResizeTap> WideTaps(const ResizeAxis& axis, const ResizeMode& mode, double source) {
  const double scale = axis.scale, reach = mode.mode == "linear" ? 1 : 2;
  const double base = std::floor(source);
  const auto start = static_cast<int64_t>(std::floor(-reach / scale)) + 1;
  std::vector<ResizeTap> taps;
  double sum = 0;
  for (int64_t i = start; i <= 1 - start; ++i) {
    const int64_t at = static_cast<int64_t>(base) + i;
    const double distance = (static_cast<double>(at) - source) * scale;
    const bool outside = at < 0 || at >= axis.in;
    double weight = mode.mode == "linear" ? std::max(0.0, 1 - std::abs(distance))
                                          : CubicWeight(distance, mode.cubic_coeff_a);
    if (mode.exclude_outside && outside) weight = 0;
    sum += weight;
    taps.push_back({std::clamp<int64_t>(at, 0, axis.in - 1), weight});
  }
  for (ResizeTap& tap : taps) tap.weight /= sum;
  return taps;
}

}  // namespace

std::vector<ResizeTap> TapsOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x) {
  if (axis.unchanged() && !mode.crops()) return {{x, 1.0}};
  if (mode.antialias && axis.scale < 1) return WideTaps(axis, mode, SourceOf(axis, mode, x));
  const auto last = static_cast<float>(axis.in - 1);
  float source = SourceOf(axis, mode, x);
  if (mode.mode == "linear") {
    source = std::clamp(source, 0.0f, last);
    const float base = std::min(std::floor(source), last);
    const double ratio = static_cast<double>(source) - base;
    const auto index = static_cast<int64_t>(base);
    if (ratio == 0) return {{index, 1.0}};
    return {{index, 1 - ratio}, {index + 1, ratio}};
  }
  const float base = std::floor(std::clamp(source, -2.0f - last, 2.0f * last + 2.0f));
  std::vector<ResizeTap> taps;
  double sum = 0;
  for (int i = -1; i <= 2; ++i) {
    const float at = base + static_cast<float>(i);
    double weight = CubicWeight(static_cast<double>(source) - at, mode.cubic_coeff_a);
    if (mode.exclude_outside && (at < 0 || at > last)) weight = 0;
    sum += weight;
    taps.push_back({static_cast<int64_t>(std::clamp(at, 0.0f, last)), weight});
  }
  if (mode.exclude_outside && sum != 0) {
    for (ResizeTap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

}  // namespace octavo::ops

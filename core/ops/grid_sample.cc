// SPDX-License-Identifier: Apache-2.0
// GridSample(x, grid) {mode, padding_mode, align_corners}: samples x [N, C, spatial..] at
// coordinates in [-1, 1], innermost axis first.  Nearest, linear or cubic, in double, rounded once.
#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"align_corners", ir::AttrKind::kInt},
                                        {"mode", ir::AttrKind::kString},
                                        {"padding_mode", ir::AttrKind::kString}};
constexpr double kCubic = -0.75;  // coefficient a of the cubic convolution; ONNX fixes it

struct Mode {
  std::string interpolation = {}, padding = {};
  bool align = false;
};

Mode ModeOf(const ir::Node& node) {
  return {.interpolation = node.attributes.String("mode", "linear"),
          .padding = node.attributes.String("padding_mode", "zeros"),
          .align = node.attributes.Int("align_corners", 0) != 0};
}

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  const ir::Shape& grid = context.shape(1);
  const Mode mode = ModeOf(context.node());
  if (mode.interpolation != "nearest" && mode.interpolation != "linear" &&
      mode.interpolation != "cubic") {
    return context.Invalid("mode '{}' is unknown", mode.interpolation).Field("mode");
  }
  if (mode.padding != "zeros" && mode.padding != "border" && mode.padding != "reflection") {
    return context.Invalid("padding_mode '{}' is unknown", mode.padding).Field("padding_mode");
  }
  const auto axes = static_cast<int64_t>(x.size()) - 2;
  if (axes < 1 || grid.size() != x.size() || grid[0] != x[0] || grid.back() != axes ||
      !ir::IsFloat(context.dtype(1))) {
    return context.Invalid("grid of shape {} does not fit x of shape {}", ir::ToString(grid),
                           ir::ToString(x));
  }
  ir::Shape shape = {x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

// Reflects a coordinate between `low` and `high` until it is within them.
double Reflected(double at, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double beyond = at < low ? low - at : at > high ? at - high : 0;
  if (beyond == 0) return at;
  const double turns = std::floor(beyond / range);
  const double rest = beyond - turns * range;
  const bool from_low = (at < low) == (std::fmod(turns, 2) == 0);
  return from_low ? low + rest : high - rest;
}

// One axis: the elements of x around a coordinate.
struct Axis {
  const Mode& mode;
  int64_t extent = 0;

  double low() const { return mode.align ? 0.0 : -0.5; }
  double high() const { return static_cast<double>(extent) - (mode.align ? 1.0 : 0.5); }
  // Converts a coordinate in [-1, 1] to a position in elements.
  double Place(double at) const {
    const auto n = static_cast<double>(extent);
    return mode.align ? (at + 1) / 2 * (n - 1) : ((at + 1) * n - 1) / 2;
  }
  double Padded(double at) const {
    if (at >= low() && at <= high()) return at;
    if (mode.padding == "border") return std::clamp(at, 0.0, static_cast<double>(extent - 1));
    if (mode.padding == "reflection") return Reflected(at, low(), high());
    return at;
  }
  // -1 outside of x, if the padding is zero.
  int64_t Element(double at) const {
    at = Padded(at);
    const auto last = static_cast<double>(extent - 1);
    if (mode.padding != "zeros") at = std::clamp(at, 0.0, last);
    return at >= 0 && at <= last ? static_cast<int64_t>(at) : -1;
  }
};

struct Tap {
  int64_t element = -1;
  double weight = 1;
};

double CubicWeight(double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return ((kCubic + 2) * x - (kCubic + 3)) * x * x + 1;
  if (x < 2) return ((kCubic * x - 5 * kCubic) * x + 8 * kCubic) * x - 4 * kCubic;
  return 0;
}

std::vector<Tap> TapsOf(const Axis& axis, double coordinate) {
  double at = axis.Place(coordinate);
  if (!std::isfinite(at)) at = axis.mode.padding == "zeros" ? -10.0 : 0.0;
  if (axis.mode.interpolation == "nearest") {
    return {{axis.Element(axis.Padded(std::nearbyint(at))), 1}};
  }
  const bool cubic = axis.mode.interpolation == "cubic";
  if (!cubic) at = axis.Padded(at);
  const double base = std::floor(at);
  std::vector<Tap> taps;
  for (int i = cubic ? -1 : 0; i <= (cubic ? 2 : 1); ++i) {
    const double distance = at - (base + i);
    taps.push_back(
        {axis.Element(base + i), cubic ? CubicWeight(distance) : 1 - std::abs(distance)});
  }
  return taps;
}

// Offset and weight of every element that one grid position combines.
std::vector<Tap> Product(const std::vector<std::vector<Tap>>& axes, const ir::Shape& strides) {
  std::vector<Tap> all = {{0, 1}};
  for (size_t d = 0; d < axes.size(); ++d) {
    std::vector<Tap> next;
    for (const Tap& held : all) {
      for (const Tap& tap : axes[d]) {
        if (tap.element < 0) continue;
        next.push_back({held.element + tap.element * strides[d], held.weight * tap.weight});
      }
    }
    all = std::move(next);
  }
  return all;
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const ir::Tensor& grid = context.in(1);
  const Mode mode = ModeOf(context.node);
  const ir::Shape extents(x.shape().begin() + 2, x.shape().end());
  const ir::Shape strides = ir::StridesOf(extents);
  const int64_t axes = grid.shape().back(), channels = x.shape()[1];
  const int64_t plane = ir::NumElements(extents);
  const int64_t places = x.shape()[0] == 0 ? 0 : grid.size() / (axes * x.shape()[0]);
  VisitDType(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(x.shape()[0] * places, 64, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        std::vector<std::vector<Tap>> taps;
        for (int64_t d = 0; d < axes; ++d) {
          taps.push_back(TapsOf({mode, extents[d]}, grid.FloatAt(p * axes + axes - 1 - d)));
        }
        const std::vector<Tap> read = Product(taps, strides);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t at = p / places * channels + c;
          double sum = 0;
          for (const Tap& tap : read) sum += tap.weight * from[at * plane + tap.element];
          to[at * places + p % places] = static_cast<T>(sum);
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGridSample{
    .name = "GridSample",
    .since = ir::Since(16),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

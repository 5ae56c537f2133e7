// SPDX-License-Identifier: Apache-2.0
// RoiAlign(x, rois, batch_indices): resamples every region of x to output_height x output_width;
// each output is the mean of bilinear samples in its bin, or the largest weighted neighbour in it.
#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"coordinate_transformation_mode", ir::AttrKind::kString},
    {"mode", ir::AttrKind::kString},
    {"output_height", ir::AttrKind::kInt},
    {"output_width", ir::AttrKind::kInt},
    {"sampling_ratio", ir::AttrKind::kInt},
    {"spatial_scale", ir::AttrKind::kFloat},
};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::AttrMap& attributes = context.node().attributes;
  const ir::Shape& x = context.shape(0);
  const ir::Shape& rois = context.shape(1);
  const std::string mode = attributes.String("mode", "avg");
  if (mode != "avg" && mode != "max") return context.Invalid("mode '{}' is unknown", mode);
  const std::string grid = attributes.String("coordinate_transformation_mode", "half_pixel");
  if (grid != "half_pixel" && grid != "output_half_pixel") {
    return context.Invalid("coordinate_transformation_mode '{}' is unknown", grid);
  }
  const int64_t height = attributes.Int("output_height", 1);
  const int64_t width = attributes.Int("output_width", 1);
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || context.shape(2) != ir::Shape{rois[0]} ||
      !ir::IsInteger(context.dtype(2)) || height < 1 || width < 1) {
    return context.Invalid("rois of shape {} and their batches do not fit x of shape {}",
                           ir::ToString(rois), ir::ToString(x));
  }
  context.SetResult(0, context.dtype(0), {rois[0], x[1], height, width});
  return {};
}

// A sample's four neighbours in a plane and their weights; no neighbours if the sample is far
// outside.
struct Sample {
  std::array<int64_t, 4> at = {};
  std::array<double, 4> weights = {};
};

// The two positions around a sample's coordinate along one axis.
struct Between {
  int64_t low = 0, high = 0;
  double fraction = 0;
};

Between Locate(double at, int64_t extent) {
  at = std::max(at, 0.0);
  const auto low = static_cast<int64_t>(at);
  if (low >= extent - 1) return {extent - 1, extent - 1, 0};
  return {low, low + 1, at - static_cast<double>(low)};
}

Sample SampleAt(double y, double x, int64_t height, int64_t width) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) {
    return {};
  }
  const Between v = Locate(y, height), h = Locate(x, width);
  return {{v.low * width + h.low, v.low * width + h.high, v.high * width + h.low,
           v.high * width + h.high},
          {(1 - v.fraction) * (1 - h.fraction), (1 - v.fraction) * h.fraction,
           v.fraction * (1 - h.fraction), v.fraction * h.fraction}};
}

// One axis of a region: its start, the length of a bin, the number of samples per bin.
struct Bins {
  double start = 0, size = 0;
  int64_t samples = 1;

  double At(int64_t bin, int64_t sample) const {
    return start + size * (static_cast<double>(bin) +
                           (static_cast<double>(sample) + 0.5) / static_cast<double>(samples));
  }
};

Bins BinsOf(const ir::AttrMap& attributes, double begin, double end, int64_t count) {
  const double scale = attributes.Float("spatial_scale", 1);
  const bool old =
      attributes.String("coordinate_transformation_mode", "half_pixel") == "output_half_pixel";
  const double start = begin * scale - (old ? 0.0 : 0.5);
  double length = end * scale - (old ? 0.0 : 0.5) - start;
  if (old) length = std::max(length, 1.0);
  const int64_t ratio = attributes.Int("sampling_ratio", 0);
  const double size = length / static_cast<double>(count);
  return {start, size, ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(size))};
}

template <class T>
double PoolBin(const T* plane, const std::vector<Sample>& samples, bool mean) {
  double result = 0;
  bool first = true;
  for (const Sample& sample : samples) {
    for (size_t i = 0; i < 4; ++i) {
      const double part = sample.weights[i] * static_cast<double>(plane[sample.at[i]]);
      // ONNX's definition takes the largest weighted neighbour.
      result = mean ? result + part : first ? part : std::max(result, part);
      first = false;
    }
  }
  return mean && !samples.empty() ? result / static_cast<double>(samples.size()) : result;
}

template <class T>
void AlignRegion(const ir::EvalContext& context, int64_t roi) {
  const ir::Shape& x = context.in(0).shape();
  const ir::Shape& y = context.out().shape();
  const auto corner = [&](int64_t i) { return context.in(1).FloatAt(roi * 4 + i); };
  const Bins across = BinsOf(context.node.attributes, corner(0), corner(2), y[3]);
  const Bins down = BinsOf(context.node.attributes, corner(1), corner(3), y[2]);
  const bool mean = context.node.attributes.String("mode", "avg") == "avg";
  const T* from = context.in(0).values<T>().data() + context.in(2).IntAt(roi) * x[1] * x[2] * x[3];
  T* to = context.out().mutable_values<T>().data() + roi * y[1] * y[2] * y[3];
  for (int64_t bin = 0; bin < y[2] * y[3]; ++bin) {
    std::vector<Sample> samples;
    for (int64_t i = 0; i < down.samples; ++i) {
      for (int64_t j = 0; j < across.samples; ++j) {
        samples.push_back(SampleAt(down.At(bin / y[3], i), across.At(bin % y[3], j), x[2], x[3]));
      }
    }
    for (int64_t c = 0; c < x[1]; ++c) {
      to[c * y[2] * y[3] + bin] = static_cast<T>(PoolBin(from + c * x[2] * x[3], samples, mean));
    }
  }
}

Status Definition(const ir::EvalContext& context) {
  const int64_t batches = context.in(0).shape()[0];
  for (int64_t roi = 0; roi < context.in(2).size(); ++roi) {
    const int64_t batch = context.in(2).IntAt(roi);
    if (batch < 0 || batch >= batches) {
      return BadData(context, "batch index {} is outside of {}", batch, batches);
    }
    VisitDType(context.in(0).dtype(), [&]<class T>(T) { AlignRegion<T>(context, roi); });
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kRoiAlign{
    .name = "RoiAlign",
    .since = ir::Since(10),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops

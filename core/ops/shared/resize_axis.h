// SPDX-License-Identifier: Apache-2.0
// One axis of a Resize: for each position of the result, the coordinate in the operand and the
// elements to combine.  Coordinates are computed in float32, as in ONNX Runtime.
#pragma once

#include <string>
#include <vector>

#include "core/ir/op_def.h"

namespace octavo::ops {

struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  float scale = 1;
  float length = 1;  // of the result, before rounding down to `out`
  float roi_start = 0, roi_end = 1;

  bool unchanged() const { return in == out && scale == 1; }
};

// The attributes of a Resize.
struct ResizeMode {
  std::string mode = "nearest";
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  std::string policy = "stretch";
  float cubic_coeff_a = -0.75f;
  bool exclude_outside = false;
  bool antialias = false;  // widens the filter when downscaling
  float extrapolation = 0;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};
ResizeMode ResizeModeOf(const ir::AttrMap& attributes);
// "" if all words are known to ONNX, else the first unknown one.
std::string UnknownWord(const ResizeMode& mode);

// Fills `plan` with one entry per axis of `shape`.  Exactly one of `scales` and `sizes` is given;
// they and `roi` apply to the axes `axes`.  Returns "" or an error message.
std::string PlanResize(const ir::Shape& shape, const ResizeMode& mode,
                       const std::vector<int64_t>& axes, const std::vector<float>& roi,
                       const std::vector<float>* scales, const std::vector<int64_t>* sizes,
                       std::vector<ResizeAxis>& plan);

// The position in the operand, in elements, that corresponds to position x of the result.
float SourceOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x);
// The element that `nearest` selects for position x.
int64_t NearestOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x);

struct ResizeTap {
  int64_t index = 0;
  double weight = 1;
};
// The elements that linear or cubic interpolation sums at position x, in order.
std::vector<ResizeTap> TapsOf(const ResizeAxis& axis, const ResizeMode& mode, int64_t x);

}  // namespace octavo::ops

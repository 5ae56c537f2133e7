// SPDX-License-Identifier: Apache-2.0
// The type of a value: element type, shape, and the quantization parameters of a quantized value.
// One type covers per-tensor, per-channel and row-wise quantization; they need no extra kinds of
// nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/dtype.h"

namespace octavo::ir {

// Row-major extents, all >= 0.  {} is a scalar.
using Shape = std::vector<int64_t>;

// The product of the extents; INT64_MAX on overflow.
int64_t NumElements(const Shape& shape);
// "1x3x224x224"; "" for a scalar.
std::string ToString(const Shape& shape);
// Row-major strides in elements.
Shape StridesOf(const Shape& shape);

// real value = (stored integer - zero_point) * scale.  With an axis, channel c along it uses
// scales[c] and zero_points[c]; without one, both vectors have one element.  With blocks, each run
// of `block` elements along the axis has its own scale and zero point, in the order of blocks.h.
struct Quant {
  std::vector<float> scales = {1.0f};
  std::vector<int32_t> zero_points = {0};  // as many as scales
  std::optional<int> axis = {};            // >= 0
  int block = 0;                           // elements along the axis per scale; 0: not blocked

  bool operator==(const Quant&) const = default;

  static Quant PerTensor(float scale, int32_t zero_point) { return {{scale}, {zero_point}, {}, 0}; }
  static Quant PerAxis(int axis, std::vector<float> scales, std::vector<int32_t> zero_points) {
    return {std::move(scales), std::move(zero_points), axis, 0};
  }
  bool per_tensor() const { return !axis.has_value(); }
  bool blocked() const { return block != 0; }
  // Scale and zero point of channel c; a per-tensor Quant has one pair for all.  Not of blocks.
  float scale(int64_t c = 0) const { return scales[per_tensor() ? 0 : c]; }
  int32_t zero_point(int64_t c = 0) const { return zero_points[per_tensor() ? 0 : c]; }
  // Whether all channels have equal parameters, so that a per-tensor Quant is equivalent.
  bool Uniform() const;
};

// Proven bounds of the real values.
struct Range {
  float min = 0;
  float max = 0;

  bool operator==(const Range&) const = default;
};

struct Type {
  DType dtype = DType::kF32;
  Shape shape = {};
  std::optional<Quant> quant = {};
  std::optional<Range> range = {};

  bool operator==(const Type&) const = default;

  bool quantized() const { return quant.has_value(); }
  bool blocked() const { return quant.has_value() && quant->blocked(); }
  // Whether stored elements of both types represent the same real values, so that moving elements
  // between the types needs no conversion.  Shape and proven range may differ.
  bool SameQuantization(const Type& other) const {
    return dtype == other.dtype && quant == other.quant;
  }
  int64_t elements() const { return NumElements(shape); }
  int64_t bytes() const;
  // The type that the op's definition computes on: f32 for a quantized type, else the type itself.
  Type Expressed() const;
};

// A short form for messages: "1x3x8x8xi8, scale=0.5, zp=-3".
std::string ToString(const Type& type);

}  // namespace octavo::ir

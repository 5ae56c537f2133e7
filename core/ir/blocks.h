// SPDX-License-Identifier: Apache-2.0
// Blocked quantization: each run of Quant::block elements along the axis has its own scale and zero
// point.  The scales are a tensor of the value's shape, with the axis's extent divided by the block
// and rounded up, in row-major order, as ONNX's DequantizeLinear has them; so are the zero points.
#pragma once

#include "core/ir/type.h"

namespace octavo::ir {

// The order of elements and scales: [outer][extent][inner] and [outer][count][inner].
struct Blocks {
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t size = 1;  // elements along the axis

  // `axis` is one of the shape's, and block > 0.
  static Blocks Of(const Shape& shape, int axis, int64_t block);
  static Blocks Of(const Quant& quant, const Shape& shape) {
    return Of(shape, *quant.axis, quant.block);
  }

  // Along the axis.
  int64_t count() const { return extent / size + (extent % size != 0 ? 1 : 0); }
  // INT64_MAX on overflow, which only a shape with an extent of 0 can have.
  int64_t scales() const { return NumElements({outer, count(), inner}); }
  // The index of the scale of an element, both counted in row-major order.
  int64_t ScaleOf(int64_t element) const {
    const int64_t row = element / inner;
    return (row / extent * count() + row % extent / size) * inner + element % inner;
  }
};

// The index of the scale of an element of a value, counted in row-major order; 0 without scales.
int64_t ScaleOf(const Type& type, int64_t element);

// The shape of the scales and of the zero points as tensors: {} if per-tensor, {channels}, or that
// of the blocks.
Shape ScaleShape(const Quant& quant, const Shape& shape);

}  // namespace octavo::ir

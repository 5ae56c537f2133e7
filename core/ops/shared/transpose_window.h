// SPDX-License-Identifier: Apache-2.0
// Geometry of a transposed convolution: its strides multiply the input's extents.
#pragma once

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

struct TransposeWindow {
  std::vector<int64_t> in, kernel, strides, dilations, pads_begin, out;

  // Calls body(position, tap, input_offset) for every output position and every tap, in descending
  // row-major order, that coincides with an input element or, with input_offset -1, with the
  // padding around the input.
  template <class Body>
  void ForEachTap(Body&& body) const {
    const int64_t positions = ir::NumElements(out);
    for (int64_t position = 0; position < positions; ++position) {
      ForEachTapAt(position, [&](int64_t tap, int64_t offset) { body(position, tap, offset); });
    }
  }

  // The same for one output position: body(tap, input_offset).
  template <class Body>
  void ForEachTapAt(int64_t at_position, Body&& body) const {
    const ir::Shape in_strides = ir::StridesOf(in);
    for (int64_t tap = ir::NumElements(kernel); tap-- > 0;) {
      bool between = false;  // the tap is between two input elements
      int64_t offset = 0, rest_position = at_position, rest_tap = tap;
      for (size_t d = in.size(); d-- > 0;) {
        const int64_t p = rest_position % out[d], k = rest_tap % kernel[d];
        rest_position /= out[d];
        rest_tap /= kernel[d];
        const int64_t position = p + pads_begin[d] - k * dilations[d];
        const int64_t at = position / strides[d];
        const bool hit = position >= 0 && at < in[d];
        between = between || position % strides[d] != 0;
        offset = hit && offset >= 0 ? offset + at * in_strides[d] : -1;
      }
      if (!between) body(tap, offset);
    }
  }
};

// Computes the geometry from the attributes strides, dilations, pads, output_padding, output_shape
// and auto_pad.
Result<TransposeWindow> TransposeWindowOf(const ir::Node& node, const ir::Shape& data,
                                          const ir::Shape& weight);

}  // namespace octavo::ops
